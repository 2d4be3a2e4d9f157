# Needs only Python 3.11+ (with venv and pip) and make: every target builds .venv by itself.
#   make demo [GRAPH=path]   make test [ARGS=...]   make lint    make bench [ARGS=...]
#   make kernels             make emulated          make docs    make conformance   make clean
#   make test-gpu           make records

VENV := .venv
BIN  := $(VENV)/bin
ARGS ?=
GRAPH ?=
# Hundreds of processes import the same modules: compiled modules are kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

# The first Python that is new enough; PYTHON=... on the command line overrides it.
IS_NEW := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if $$p $(IS_NEW) >/dev/null 2>&1; then echo $$p; exit; fi; done)

.PHONY: demo test kernels emulated lint docs bench records conformance clean test-gpu test-gpu-backend test-gpu-suite \
	test-gpu-order test-gpu-sanitizer test-gpu-long
.DEFAULT_GOAL := test

demo: $(VENV)/.demo
	$(BIN)/semira demo --out demo $(if $(GRAPH),--graph "$(GRAPH)")

# Most of the time would go into optimising kernels that run for microseconds: SEMIRA_OPTIMISE=1 does it.
UNOPTIMISED = SEMIRA_OPTIMISE=$${SEMIRA_OPTIMISE:-0} NUMBA_OPT=$$((3 * $${SEMIRA_OPTIMISE:-0}))

# What runs beside `test` notes its failures elsewhere: else the last to end would forget the others'.
APART = -o cache_dir=.pytest_cache/$@

# Tests, then the examples in the docstrings. What computes for long is in `make conformance`.
test: $(VENV)/.test
	$(UNOPTIMISED) $(BIN)/python -m pytest --quiet --numprocesses auto --dist loadfile --no-loadscope-reorder \
		--doctest-modules --ignore-glob='*_real_graphs.py' tests src/semira benchmarks $(ARGS)

# All that needs an NVIDIA GPU; a missing one is a failure, not a skip.
test-gpu: test-gpu-backend test-gpu-suite test-gpu-order test-gpu-sanitizer test-gpu-long

ON_GPU = SEMIRA_REQUIRE_GPU=1 $(BIN)/python -m pytest --quiet --device cuda

# The backend itself: launches, memory, threads, processes, capture.
test-gpu-backend: $(VENV)/.gpu
	$(ON_GPU) tests/gpu $(ARGS)

# The tests that run on every device; the conformance suite with listed kernels only.
test-gpu-suite: $(VENV)/.gpu
	$(ON_GPU) --ignore tests/gpu tests $(ARGS)

# The same results with the numbers of blocks dealt out in another order.
test-gpu-order: $(VENV)/.gpu
	$(ON_GPU) --gpu-aid permuted tests/gpu/test_ahead_cuda.py tests/gpu/test_statements_cuda.py tests/gpu/test_matrices_cuda.py \
		tests/gpu/test_regions_cuda.py tests/gpu/test_bfs_cuda.py tests/gpu/test_order_cuda.py \
		tests/gpu/test_solo_cuda.py tests/gpu/test_shared_phases_cuda.py tests/gpu/test_undo_cuda.py $(ARGS)

# One exact allocation for each buffer; compute-sanitizer comes with the CUDA toolkit.
SANITIZED := $(addprefix tests/gpu/test_ahead_cuda.py::test_,loops_that_end_behind_a_pull_leave_nothing \
		a_list_that_another_push_has_built_behind_a_pull) \
	tests/gpu/test_bfs_cuda.py::test_levels_are_right_with_one_wait tests/gpu/test_kept_tiles_cuda.py \
	tests/gpu/test_memory_cuda.py::test_results_are_the_same_with_one_exact_allocation_for_each_buffer \
	tests/gpu/test_statements_cuda.py::test_products_agree_with_the_reference \
	tests/gpu/test_statements_cuda.py::test_reduce_and_its_empty_case \
	tests/gpu/test_matrices_cuda.py::test_products_agree_with_the_reference \
	$(addprefix tests/gpu/test_products_cuda.py::test_,without_entries_and_without_rows \
		full_operands_under_a_mask full_operands_of_one_value operands_of_one_value \
		lanes_and_bands_share_out_rows_and_columns) \
	$(addprefix tests/gpu/test_block_products_cuda.py::test_,a_block_stays_a_block_from_product_to_product \
		other_statements_read_what_was_pulled an_empty_operand_or_result_has_nothing) \
	$(addprefix tests/gpu/test_spmspv_cuda.py::test_,what_any_keeps_is_one_of_the_products \
		without_entries_and_without_positions output_may_be_operand_and_mask) \
	$(addprefix tests/gpu/test_storages_cuda.py::test_,any_number_of_blocks pins_of_push \
		two_products_of_one_matrix_read_both_ends) \
	tests/gpu/test_hot_columns_cuda.py::test_blocks_make_no_difference \
	tests/gpu/test_intersections_cuda.py::test_a_mask_by_value \
	$(addprefix tests/gpu/test_fixed_point_cuda.py::test_,loops_unreachable_positions_and_nothing_at_all the_identity_is_a_value) \
	$(addprefix tests/gpu/test_diagonals_cuda.py::test_,values_that_all_entries_share wide_offsets) \
	tests/gpu/test_kronecker_cuda.py::test_many_entries_and_whole_rows tests/gpu/test_product_shares_cuda.py::test_wide_offsets \
	tests/gpu/test_regions_cuda.py tests/unit/frontend/test_array_kernels.py \
	$(addprefix tests/unit/apps/,test_walks.py test_sampling.py test_geolocation.py \
		test_communities.py::test_long_rows_meet_every_size_of_table test_communities.py::test_labels_are_those_of_the_reference \
		test_local_clusters.py::test_every_device_gives_the_same_bits test_projections.py test_classification.py \
		test_scan_statistics.py::test_hubs_and_many_triangles test_vertex_nomination.py::test_contexts_are_weighed \
		test_subgraph_match.py test_assignment.py test_fused_lasso.py) \
	tests/unit/frontend/test_softmax_rows.py tests/unit/algorithms/test_searches.py tests/unit/algorithms/test_network_flow.py
test-gpu-sanitizer: $(VENV)/.gpu
	for tool in memcheck racecheck initcheck; do \
		SEMIRA_REQUIRE_GPU=1 compute-sanitizer --tool $$tool --error-exitcode 1 \
			$(BIN)/python -m pytest --quiet --gpu-aid exact $(SANITIZED) $(ARGS) || exit 1; done

# Drawn cases against SuiteSparse, of the statements whose kernels are listed.
CASES ?= 50000
test-gpu-long: $(VENV)/.gpu
	$(BIN)/python -m tests.conformance --device cuda --listed --cases $(CASES)

# No GPU needed: the suite asks for listed kernels only, and all that are new compile and link.
kernels: $(VENV)/.test
	SEMIRA_TEST_DATA=none $(UNOPTIMISED) $(BIN)/python -m pytest --quiet $(APART) --device cuda --device-tests --kernels check tests/conformance
	$(BIN)/python -m tests.helpers.compile_kernels $(ARGS)

# No GPU needed: the cuda backend with kernels compiled for the host. Every family of kernels is among it.
EMULATED := tests/unit/methods/test_toy.py tests/gpu/test_sorts_cuda.py tests/gpu/test_ahead_cuda.py tests/gpu/test_kept_tiles_cuda.py tests/gpu/test_few_lists_cuda.py tests/gpu/test_order_cuda.py tests/gpu/test_hosted_cuda.py tests/gpu/test_memory_cuda.py \
	tests/gpu/test_products_cuda.py::test_rows_window_by_window \
	tests/gpu/test_products_cuda.py::test_full_operands_under_a_mask \
	tests/gpu/test_products_cuda.py::test_lanes_and_bands_share_out_rows_and_columns[min_plus-dtype5-4] \
	tests/gpu/test_products_cuda.py::test_pieces_grow_until_their_sums_have_room \
	tests/gpu/test_products_cuda.py::test_full_operands_written_into_another_dtype \
	tests/gpu/test_hot_columns_cuda.py::test_all_columns_may_be_hot \
	tests/gpu/test_shared_phases_cuda.py::test_words_in_which_nothing_can_happen_are_passed_over \
	tests/gpu/test_pull_shares_cuda.py::test_sums_of_rows \
	$(addprefix tests/gpu/test_regions_cuda.py::test_sums_lines_and_diagonals_of_a_matrix,[None-False] [mask1-True] [mask2-False] [mask3-True] [mask4-False]) \
	tests/gpu/test_wide_cuda.py::test_products tests/gpu/test_wide_cuda.py::test_extensions \
	tests/gpu/test_fixed_point_cuda.py::test_loops_unreachable_positions_and_nothing_at_all \
	tests/gpu/test_fixed_point_cuda.py::test_ctrl_c_is_passed_on_and_leaves_the_vector \
	tests/gpu/test_diagonals_cuda.py::test_values_that_all_entries_share \
	tests/gpu/test_diagonals_cuda.py::test_wide_offsets \
	tests/gpu/test_kronecker_cuda.py::test_many_entries_and_whole_rows \
	tests/gpu/test_product_shares_cuda.py::test_wide_offsets \
	tests/gpu/test_spmspv_cuda.py::test_without_entries_and_without_positions \
	tests/gpu/test_storages_cuda.py::test_any_number_of_blocks \
	tests/gpu/test_block_products_cuda.py::test_an_empty_operand_or_result_has_nothing \
	tests/gpu/test_places_cuda.py tests/gpu/test_ways_cuda.py \
	tests/unit/algorithms/test_bfs.py tests/unit/algorithms/test_jaccard_similarity.py \
	tests/unit/algorithms/test_k_hop.py tests/unit/algorithms/test_maximal_independent_set.py \
	tests/unit/algorithms/test_minimum_spanning_forest.py tests/unit/algorithms/test_multi_source_bfs.py \
	tests/unit/algorithms/test_widest_path.py tests/unit/frontend/test_array_kernels.py \
	$(addprefix tests/unit/apps/,test_walks.py test_sampling.py test_sage.py test_geolocation.py \
		test_communities.py::test_long_rows_meet_every_size_of_table test_communities.py::test_labels_are_those_of_the_reference \
		test_local_clusters.py::test_every_device_gives_the_same_bits test_local_clusters.py::test_the_greatest_values_first \
		test_projections.py test_scan_statistics.py::test_hubs_and_many_triangles \
		test_vertex_nomination.py::test_contexts_are_weighed test_subgraph_match.py \
		$(addprefix test_classification.py::test_,the_planted_pattern_is_found launches_of_their_own_change_nothing) \
		$(addprefix test_assignment.py::test_,auctions_have_the_same_bits_everywhere the_only_best_pairs_are_found_everywhere) \
		test_fused_lasso.py::test_the_values_of_the_specification) \
	$(addprefix tests/unit/algorithms/test_graph_colouring.py::test_,turns_make_the_colours_of_the_scan another_seed_is_another_order) \
	tests/unit/algorithms/test_label_propagation.py::test_rounds_make_the_labels_of_lists \
	$(addprefix tests/unit/algorithms/,test_network_flow.py::test_value_is_that_of_the_least_of_all_cuts \
		test_ranked_rows.py $(addprefix test_searches.py::test_,as_many_sources_as_bits a_hub_with_more_edges_than_a_few_threads_walk)) \
	$(addprefix tests/unit/methods/b2sr/test_b2sr_products.py::test_,in_a_recorded_loop shapes) \
	$(addprefix tests/unit/methods/b2sr/test_b2sr_dots.py::test_,masked_products products_that_no_mask_names triangles) \
	tests/unit/frontend/test_softmax_rows.py::test_rows_of_every_length
# Statements of every dtype are in `make kernels` and BFS; here they would be the same again.
LEFT_OUT := $(foreach file,jaccard_similarity multi_source_bfs,\
	--deselect tests/unit/algorithms/test_$(file).py::test_every_dtype_is_a_graph)
emulated: $(VENV)/.test
	@if $(BIN)/python -c 'import sys; from tests.helpers.emulated import build; \
			sys.exit(not build.has_compiler())'; then \
		$(UNOPTIMISED) $(BIN)/python -m pytest --quiet $(APART) --numprocesses auto --emulate --device cuda --device-tests -m 'not slow' \
			$(EMULATED) $(LEFT_OUT) $(ARGS); \
	else echo "emulated: skipped; it needs g++ on an x86-64 processor, and Linux"; fi

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.bench
	$(BIN)/semira bench $(ARGS)

# The GPU's records that the tables of the docs are made of; takes minutes. ../shared/data has the graphs with names.
RECORD = $(BIN)/semira bench
STUDY = $(BIN)/python -m benchmarks
NAMED := minnesota,mycielskian12,delaunay_n14,delaunay_n16,soc-Slashdot0902,coAuthorsDBLP,cnr-2000,USA-road-NE
records: $(VENV)/.gpu
	$(RECORD) cuda --graphs $(NAMED),kron21,grid4900,kron:20 --trials 5 --budget 0.6 --limit 240 --out bench/results/cuda.jsonl
	$(RECORD) cuda --graphs soc-Slashdot0902,coAuthorsDBLP,cnr-2000,kron21 --algorithms bfs,sssp --no-variants --trials 5 \
		--budget 12 --sources 64 --limit 60 --append --out bench/results/cuda.jsonl
	$(RECORD) cuda --graphs rgg_n_2_24 --algorithms bfs,sssp,pagerank,cc --trials 3 --budget 0.3 --limit 60 --append \
		--out bench/results/cuda.jsonl
	$(RECORD) cuda --graphs rmat22_64,rmat24_16 --algorithms bfs,sssp,pagerank,cc --trials 3 --budget 0.3 --limit 120 --append \
		--out bench/results/cuda.jsonl
	append=; for algorithm in auto bellman_ford window delta_stepping asynchronous; do \
		$(RECORD) cuda --graphs $(NAMED),kron21,grid4900 --algorithms sssp --no-copies --trials 5 --budget 0.15 --limit 90 \
			--pin algorithm=$$algorithm $$append --out bench/results/formulations.jsonl || exit 1; append=--append; done
	$(STUDY) cuda-micro --trials 5 --budget 0.2 --out bench/results/cuda_micro.jsonl
	$(STUDY) bfs-methods --graphs kron:16,minnesota,coAuthorsDBLP,delaunay_n16,cnr-2000,soc-Slashdot0902 --device cuda --trials 3 \
		--budget 0.5 --out bench/results/bfs-methods.jsonl
	$(STUDY) spmspv --graphs ak2010,coAuthorsDBLP,delaunay_n16,luxembourg_osm,soc-Slashdot0902,kron:16,kron:17,kron:18,kron:19,kron:20,kron:21 \
		--device cuda --trials 3 --budget 0.1 --out bench/results/spmspv.jsonl
	$(STUDY) blocks --algorithms bfs,bc,apsp --device cuda --trials 3 --budget 2 --limit 120 --out bench/results/blocks.jsonl
	$(STUDY) spmv --device cuda --trials 5 --out bench/results/spmv.jsonl
	$(STUDY) spmm --device cuda --trials 3 --budget 0.02 --out bench/results/spmm.jsonl
	$(STUDY) spmm --graphs delaunay_n14,soc-Slashdot0902,coAuthorsDBLP,kron:14 --columns 1,2,8,128,256,1250 --device cuda \
		--trials 3 --budget 0.02 --out bench/results/spmm_columns.jsonl
	$(STUDY) mxm --device cuda --trials 5 --out bench/results/mxm.jsonl
	$(STUDY) formats --device cuda --trials 3 --budget 0.1 --out bench/results/formats.jsonl
	$(STUDY) ideas --graphs kron_logn21 --device cuda --trials 5 --out bench/results/ideas.jsonl
	$(STUDY) levels --graphs kron:18,coAuthorsDBLP,cnr-2000,delaunay_n16 --device cuda --trials 3 --seconds 6 \
		--out bench/results/levels.jsonl
	$(STUDY) levels --graphs kron:18 --device cuda --sources 1000 --trials 3 --seconds 90 --out bench/results/level_sources.jsonl
	$(STUDY) frontiers --graphs kron:16,kron:18 --device cuda --trials 3 --out bench/results/frontiers.jsonl
	$(STUDY) masks --graphs kron:16,kron:18 --device cuda --trials 3 --out bench/results/masks.jsonl
	$(STUDY) variants --graphs kron:10 --device cuda --trials 5 --out bench/results/variants.jsonl
	$(STUDY) adaptive --graphs kron:18,cnr-2000,USA-road-NE --device cuda --trials 3 --out bench/results/adaptive.jsonl
	$(STUDY) scales --scales 16-26 --device cuda --limit 250 --out bench/results/scales.jsonl
	$(STUDY) first-calls --out bench/results/first_calls.jsonl
	$(STUDY) first-calls --device cuda --processes 4 --append --out bench/results/first_calls.jsonl
	$(STUDY) algorithms --graphs minnesota,delaunay_n10,ca-GrQc,wiki-Vote --trials 5 --out bench/results/algorithms.jsonl
	$(STUDY) algorithms --graphs delaunay_n14,email-Enron,web-NotreDame,coAuthorsDBLP --append --out bench/results/algorithms.jsonl
	$(STUDY) algorithms --graphs delaunay_n16,soc-Slashdot0902,coAuthorsDBLP,loc-gowalla,cnr-2000,USA-road-NE --device cuda \
		--processes 12 --no-peers --trials 5 --append --out bench/results/algorithms.jsonl
	$(BIN)/python -m benchmarks.scripts.phases_gpu minnesota,mycielskian12,delaunay_n16,soc-Slashdot0902,coAuthorsDBLP,cnr-2000,USA-road-NE,kron21 \
		bfs,sssp,pagerank,cc,tc --limit 400 --out bench/results/phases_gpu.json
	$(BIN)/python -m benchmarks.scripts.diagonals_gpu --out bench/results/diagonals_gpu.json
	$(BIN)/python -m benchmarks.scripts.hot_gpu --out bench/results/hot_gpu.json
	$(BIN)/python -m benchmarks.scripts.memory_policies --out bench/results/memory_policies.json

# What `make test` leaves out, and python-graphblas' own tests: the score in docs/conformance.md must be that of the run.
# Only what the former compile is optimised, as in `make test`.
conformance: $(VENV)/.test
	$(BIN)/python -m pytest --quiet $(APART) --device cpu --device-tests $(addprefix tests/conformance/test_,cover.py algorithms_real_graphs.py \
		more_algorithms_real_graphs.py)
	$(UNOPTIMISED) $(BIN)/python -m tests.pgb --docs docs/conformance.md $(ARGS)

clean:
	rm -rf $(VENV) demo site build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache \
		.import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per set of packages; pyproject.toml is newer than the stamp only when it has changed.
$(VENV)/.demo:  EXTRAS := plot
$(VENV)/.test:  EXTRAS := test
$(VENV)/.gpu:   EXTRAS := test,cuda13
$(VENV)/.docs:  EXTRAS := docs
$(VENV)/.ci:    EXTRAS := test,docs
$(VENV)/.bench: EXTRAS := bench
$(addprefix $(VENV)/.,demo test gpu docs ci bench): $(VENV)/.made pyproject.toml
	@echo "installing semira[$(EXTRAS)] into $(VENV)"
	@$(BIN)/python tools/install.py '$(EXTRAS)'
	@touch $@

$(VENV)/.made:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Semira needs Python 3.11 or newer; found: $$(python3 --version 2>&1)." >&2; \
		echo "Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; fi
	@if ! $(PYTHON) $(IS_NEW); then \
		echo "$(PYTHON) is $$($(PYTHON) --version 2>&1); Semira needs 3.11 or newer." >&2; exit 1; fi
	@if ! $(PYTHON) -c 'import ensurepip, venv' >/dev/null 2>&1; then \
		echo "$(PYTHON) cannot make virtual environments (no ensurepip)." >&2; \
		echo "On Debian or Ubuntu: apt install python3-venv; then run make again." >&2; exit 1; fi
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@touch $@
