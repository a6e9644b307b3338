# What the scripts that boot a machine for the kernel module have in common; $out and $tree are the caller's, and `sources` for module().

# Built as a user's make would, but with every warning an error. OBJECTS' own Makefile names a path under /usr/src.
module() { # DIR [NAME=VALUE]
	local dir=$out/$1
	shift
	rm -rf "$dir"
	mkdir -p "$dir"
	cp "${sources[@]}" "$dir/"
	make -s -C "$tree/OBJECTS/." -f "$tree/COMMON/Makefile" M="$dir" W=1 KCFLAGS=-Werror "$@" modules >"$dir/make.txt" 2>&1 && return
	grep -v BTF "$dir/make.txt" | tail -n 60 >&2
	return 1
}

# ROOT PROGRAM...: programs in ROOT/bin without debugging symbols, with their libraries
strip_and_link() {
	local root=$1
	shift
	(cd "$root/bin" && strip -g "$@" && ldd "$@") | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^\t\(\/lib64[^ ]*\).*/\1/p' | sort -u | while read -r lib; do
		case $lib in /lib64/*) cp -L "$lib" "$root/lib64/" ;; *) cp -L "$lib" "$root/lib/" ;; esac
	done
}
