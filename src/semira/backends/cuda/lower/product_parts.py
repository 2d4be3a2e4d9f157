"""The parts of a product statement, named, what its methods are, and variants of its pulls."""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.jit.accumulation import accumulation
from semira.backends.cuda.lower.context import Context, Made, unsupported
from semira.backends.cuda.lower.pointwise import mask_reads
from semira.backends.cuda.lower.pruning import Pruning
from semira.backends.cuda.lower.variants import PullVariant, VariantPull, pull_variant
from semira.contract import Method, Plan, Rule, Statement, part_of, variant_part
from semira.ops import TypedMonoid, TypedSemiring
from semira.ops.registry import binary

_DEFAULT = Plan("vxm", (Method("push", balance="edges"),))

#: Orientation of the stored matrix that a method walks if its plan does not say.
_ORIENTATION = {
    ("vxm", "push"): "csr", ("vxm", "pull"): "csc", ("mxv", "push"): "csc", ("mxv", "pull"): "csr",
}  # fmt: skip
_OTHER = {"csr": "csc", "csc": "csr"}

#: Bytes of the largest products that a pull by equal shares keeps in registers.
MOST_SHARED_OUT = 16


@dataclass(frozen=True, slots=True)
class Product:
    """A product's parts, named."""

    number: int
    statement: Statement
    methods: tuple[Method, ...]
    rule: Rule
    #: Slots of the vector and of the matrix.
    driver: int
    matrix: int
    transposed: bool
    #: Which of its products need not be sent when it pushes.
    pruning: Pruning | None = None
    #: Whether no other product fills between the same barriers.
    alone: bool = False

    def orientation(self, method: Method) -> str:
        """Return which orientation of the stored matrix `method` walks."""
        if method.orientation != "none":
            return method.orientation
        found = _ORIENTATION[self.statement.op, method.name]
        return _OTHER[found] if self.transposed else found

    @property
    def sums(self) -> str:
        """The C++ variable of its counters."""
        return f"sums{self.number}"

    @property
    def chosen(self) -> str:
        """The C++ variable of the method that runs."""
        return f"method{self.number}"

    @property
    def operands(self) -> set[str]:
        """Vectors that it reads while it fills a plane."""
        held = set() if self.pruning is None else {f"v{self.pruning.held}"}
        return {f"v{self.driver}"} | mask_reads(self.statement.mask) | held

    @property
    def push(self) -> Method | None:
        """The method that pushes, if there is one."""
        return next((method for method in self.methods if method.name == "push"), None)

    def stored(self, method: Method) -> str:
        """Return the C++ variable of the matrix as `method` walks it."""
        orientation = self.orientation(method)
        if method.storage == "compressed":
            return f"m{self.matrix}_{orientation}"
        return f"m{self.made(method).label}.matrix"

    def made(self, method: Method) -> Made:
        """Return what a method with a folder walks."""
        orientation = self.orientation(method)
        multiply, part = self.statement.operator.binaryop, part_of(method.storage, "cuda")
        reads = multiply.reads_b if self.statement.op == "vxm" else multiply.reads_a
        needs_one = reads and not getattr(part, "HAS_VALUES", True)
        return Made(self.matrix, method.storage, orientation, method.parameters, needs_one)

    def pulls_by_rows(self, method: Method) -> bool:
        """Return whether `method` pulls so that each row is one thread's at the end."""
        by_rows = not walks_by_merge(method.balance, self.statement.operator.monoid)
        compressed = method.storage == "compressed" and not counts_entries(self.statement.operator)
        return method.name == "pull" and compressed and by_rows and method.balance != "block"

    @property
    def prepares_by_rows(self) -> bool:
        """Whether a method pulls so: then it may do writes of the next iteration."""
        return any(map(self.pulls_by_rows, self.methods))


def open_product(number: int, statement: Statement) -> Product:
    """Return the parts of a product statement."""
    plan = statement.plan or _DEFAULT
    methods = _DEFAULT.methods if plan.methods[0].name == "direct" else plan.methods
    vector, matrix = statement.args if statement.op == "vxm" else statement.args[::-1]
    for method in methods:
        if method.name not in ("push", "pull"):
            unsupported(f"method {method.name!r} of {statement.op}")
    if sum(method.name == "push" for method in methods) > 1:
        unsupported(f"{statement.op} with two push methods")
    return Product(
        number, statement, methods, plan.rule, vector.slot, matrix.slot, matrix.transposed
    )


def walks_by_merge(balance: str, monoid: TypedMonoid) -> bool:
    """Return whether a pull takes equal shares; rows of large products go to a warp each."""
    return balance == "edges" and monoid.type.itemsize <= MOST_SHARED_OUT


def counts_entries(semiring: TypedSemiring) -> bool:
    """Return whether a product with a vector that has all entries is the number of a row's."""
    monoid, op = semiring.monoid, semiring.binaryop.parent
    is_sum = accumulation(monoid).method == "sum" and not monoid.type.is_complex
    return is_sum and op is binary["pair"]


def note_variants(ctx: Context, product: Product, method: Method) -> PullVariant | None:
    """Note which variants a pull may have; return the one that this kernel has, or None."""
    for pull in _pulls_of(ctx, product, method):
        key = (pull.variant, pull.slot, pull.orientation)
        ctx.variants[key] = ctx.variants[key].joined(pull) if key in ctx.variants else pull
    return variant_in(ctx, product, method)


def variant_in(ctx: Context, product: Product, method: Method) -> PullVariant | None:
    """Return the variant that this kernel has of a pull, or None."""
    if not any(pull.variant == ctx.variant for pull in _pulls_of(ctx, product, method)):
        return None
    part = pull_variant(ctx.variant)
    package = f"{variant_part(ctx.variant, 'cuda').__package__}.kernels"
    ctx.headers.update(dict.fromkeys(f"{package}:{each}" for each in part.HEADERS))
    return part


def _pulls_of(ctx: Context, product: Product, method: Method) -> list[VariantPull]:
    """Return a pull as each variant of its method that has kernels for it is told of it."""
    if not method.variants:
        return []
    multiply = product.statement.operator.binaryop
    # Where it may not always pull, one product is to be expected.
    knows = len(product.methods) == 1 and ctx.limits
    pulls = (
        VariantPull(
            variant.name, product.matrix, product.orientation(method), variant.figures,
            width=ctx.program.slots[product.driver].dtype.itemsize,
            reads=multiply.reads_b if product.statement.op == "vxm" else multiply.reads_a,
            limits=(ctx.limits[-1] if knows else None,), alone=ctx.is_alone,
        )
        for variant in method.variants
    )  # fmt: skip
    return [pull for pull in pulls if pull_variant(pull.variant).serves(pull)]
