// SPDX-License-Identifier: MIT
//! libtare is where the linker looks, or in TARE_LIB_DIR.
fn main() {
    println!("cargo:rerun-if-env-changed=TARE_LIB_DIR");
    if let Ok(dir) = std::env::var("TARE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={dir}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{dir}");
    }
    println!("cargo:rustc-link-lib=dylib=tare");
}
