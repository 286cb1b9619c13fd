# The front door.  CMake does the building: see CMakePresets.json.
PREFIX ?= /usr/local

.NOTPARALLEL:
.PHONY: help demo test test-quick test-real test-browser test-packages lint coverage bench install uninstall deb dist-static clean setup \
	release dev tsan clang fuzz

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile

demo: release ## start the stub server, run 10 s of load against it, show the verdict; the same over TLS and HTTP/2; then compare batching policies
	scripts/demo build/release/tailgate

test: ## lint, build and run every test; show the ten slowest
	@scripts/setup test lint
	@tests/browser/setup || echo 'The tests in a browser will be skipped.'
	@scripts/setup live || echo 'The tests with Prometheus will be skipped.'
	@scripts/setup mpi || echo 'The tests with MPI will be skipped.'
	@scripts/test

test-quick: ## build and run the unit tests only, for the inner loop
	@scripts/setup test
	@$(MAKE) --no-print-directory dev
	ctest --preset dev -L 'unit|fuzz'

test-real: release ## drive tailgate against other people's servers; installs npm packages below build/
	tests/real/setup
	tests/real/run

test-browser: release ## open the HTML reports in Chromium; installs playwright-core below build/
	cmake --build --preset release --target bench_recording
	tests/browser/setup
	tests/browser/run

lint: ## clang-format, clang-tidy, cppcheck, scripts/check-source
	@scripts/setup test lint
	@$(MAKE) --no-print-directory dev
	scripts/lint

coverage: ## run every test of the dev build with gcov; print the lines covered per folder
	@scripts/setup test coverage
	scripts/coverage

bench: release ## measure the parts and compare with other tools
	bench/run build/release

install: release ## install to PREFIX (/usr/local), below DESTDIR if set
	@DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)' >/dev/null
	@echo 'Installed $(DESTDIR)$(PREFIX)/bin/tailgate'
	@[ -n '$(DESTDIR)' ] || case ":$$PATH:" in *:'$(PREFIX)'/bin:*) ;; *) \
		echo 'It is not in your PATH yet: export PATH=$(PREFIX)/bin:$$PATH' ;; esac

uninstall: ## remove what make install put there, with the same PREFIX and DESTDIR
	DESTDIR='$(DESTDIR)' scripts/uninstall build/release '$(PREFIX)'

deb: ## make a Debian package: build/packages/*.deb
	@scripts/setup package
	@$(MAKE) --no-print-directory release
	cd build/release && cpack -G DEB -B ../packages

dist-static: ## make a tarball that needs libc alone, without gRPC: build/packages/*.tar.gz
	@scripts/setup package
	scripts/dist-static

test-packages: deb dist-static ## install the packages on bare Debian trees; needs root and the network
	tests/packages/run

clean: ## remove what was built, keep what was downloaded
	rm -rf build

setup: ## install what the build needs (the others do this themselves)
	@scripts/setup

# What is installed: no test is built, so that nothing is needed for tests.
release: build/release/build.ninja
	cmake --build build/release --target tailgate

dev tsan clang fuzz: %: build/%/build.ninja
	cmake --build --preset $@

# Configured once; from then on Ninja runs CMake again when it has to.
build/%/build.ninja: CMakePresets.json | setup
	cmake --preset $*
	@touch $@
