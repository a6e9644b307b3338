// SPDX-License-Identifier: MIT
//! Links libtare into the program, by pkg-config; where there is no libtare.a or pkg-config, libtare.so. TARE_LIB_DIR is their folder
//! where pkg-config and the linker do not know it.
use std::path::Path;
use std::process::Command;

/// What pkg-config says of tare, in words.
fn ask(dir: &Option<String>, what: &[&str]) -> Option<Vec<String>> {
    let mut paths: Vec<String> = dir.iter().map(|d| format!("{d}/pkgconfig")).collect();
    paths.extend(std::env::var("PKG_CONFIG_PATH"));
    let out = Command::new("pkg-config").args(what).arg("tare").env("PKG_CONFIG_PATH", paths.join(":")).output().ok()?;
    if !out.status.success() {
        return None;
    }
    Some(String::from_utf8(out.stdout).ok()?.split_whitespace().map(String::from).collect())
}

/// libtare.a and what it needs, as lines for cargo.
fn linked_in(dir: &Option<String>) -> Option<Vec<String>> {
    let words = ask(dir, &["--static", "--libs"])?;
    let mut folders: Vec<String> = dir.iter().cloned().collect();
    folders.extend(words.iter().filter_map(|w| w.strip_prefix("-L")).map(String::from));
    folders.extend(ask(dir, &["--variable=libdir"])?);
    folders.iter().find(|f| Path::new(f).join("libtare.a").exists())?;
    let mut lines: Vec<String> = folders.iter().map(|f| format!("rustc-link-search=native={f}")).collect();
    lines.push("rustc-link-lib=static=tare".into());
    lines.extend(words.iter().filter_map(|w| w.strip_prefix("-l")).filter(|l| *l != "tare").map(|l| format!("rustc-link-lib=dylib={l}")));
    Some(lines)
}

fn main() {
    let dir = std::env::var("TARE_LIB_DIR").ok();
    println!("cargo:rerun-if-env-changed=TARE_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Some(lines) = linked_in(&dir) {
        lines.iter().for_each(|line| println!("cargo:{line}"));
        return;
    }
    if let Some(dir) = dir {
        println!("cargo:rustc-link-search=native={dir}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{dir}"); // of this package alone
        println!("cargo:lib_dir={dir}"); // for the build.rs of who depends on it
    }
    println!("cargo:rustc-link-lib=dylib=tare");
}
