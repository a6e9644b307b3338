# SPDX-License-Identifier: MIT
# Regions cost less with the extension; without a C compiler or Python's headers the module does without.
import setuptools

setuptools.setup(ext_modules=[setuptools.Extension("tare._region", ["tare/_region.c"], optional=True)])
