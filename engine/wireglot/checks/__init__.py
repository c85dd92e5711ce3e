"""The checks of rule files: their form, their holes, cases that read each other, their layers."""
