"""The command line: ``semira run | info | generate | convert | plan | doctor | demo``."""
