#!/usr/bin/env python3
"""Directories that an unprivileged user cannot use: they cost speed, never the run, and one line.

Usage: cache_places.py CACHE_STRESS, the program of cache_stress.c. Needs root, to make the places,
and setpriv, to be the user; what needs a mount is skipped where that is not allowed. Speaks TAP.
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

USER, STRANGER = 65534, 12345
ENTRY_BYTES = 100 * 1024  # about: what cache_stress makes


class Skip(Exception):
    """A place that cannot be made here, and why."""


class Yard:
    """A scratch directory with the program in it where the user can reach it."""

    def __init__(self, program):
        self.path = tempfile.mkdtemp(prefix="lathe-places-")
        os.chmod(self.path, 0o755)
        self.program = shutil.copy(program, os.path.join(self.path, "cache_stress"))
        os.chmod(self.program, 0o755)
        self.mounts = []

    def directory(self, name, owner=USER, mode=0o700):
        path = os.path.join(self.path, name)
        os.mkdir(path)
        os.chown(path, owner, owner)
        os.chmod(path, mode)
        return path

    def mount(self, name, options):
        """A tmpfs of the user's."""
        path = self.directory(name)
        options += f",uid={USER},gid={USER},mode=0700"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "lathe-test", path],
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Skip(f"no mount here: {done.stderr.strip()}")
        self.mounts.append(path)
        return path

    def ask(self, directory, first, count):
        """Asks for kernels as the user, in one process. (results, builds, lines, last line)"""
        done = subprocess.run(
            ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", self.program,
             "once", directory, str(first), str(count)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"the run failed: {done.stdout}{done.stderr}")
        head, line = done.stdout.split("\n", 1)
        words = dict(word.split("=") for word in head.split())
        return words["results"], int(words["builds"]), int(words["lines"]), line.strip()

    def remove(self):
        for path in self.mounts:
            subprocess.run(["umount", path], check=False)
        shutil.rmtree(self.path)


def expect(got, results, words):
    """One line with these words, or none where `words` is None."""
    if got[0] != results:
        raise AssertionError(f"{got[0]} instead of {results}: {got[3]}")
    if got[2] != (0 if words is None else 1):
        raise AssertionError(f"{got[2]} lines in the log, the last: {got[3]}")
    if words is not None and not all(word in got[3] for word in words):
        raise AssertionError(f"not said: {words}, but: {got[3]}")
    if words is not None and "set LATHE_CACHE_DIR" not in got[3]:
        raise AssertionError(f"no way out is said: {got[3]}")
    return got[3]


# ---- The places: each returns the line that the user sees ----

def missing_and_makeable(yard):
    own = yard.directory("own")
    expect(yard.ask(own + "/a/b", 1, 2), "miss,miss", None)
    return expect(yard.ask(own + "/a/b", 1, 2), "hit,hit", None)


def missing_below_what_is_anothers(yard):
    return expect(yard.ask(yard.path + "/a/b", 1, 3), "off,off,off",
                  ["cannot create", "Permission denied"])


def read_only_by_its_mode(yard):
    place = yard.directory("place")
    expect(yard.ask(place, 1, 1), "miss", None)
    os.unlink(place + "/lock")
    os.chmod(place, 0o500)
    return expect(yard.ask(place, 1, 3), "hit,miss,miss", ["cannot write to", "Permission denied"])


def not_searchable(yard):
    place = yard.directory("place", mode=0o400)
    return expect(yard.ask(place, 1, 3), "miss,miss,miss", ["Permission denied"])


def not_readable(yard):
    place = yard.directory("place", mode=0o300)
    return expect(yard.ask(place, 1, 3), "off,off,off", ["cannot open", "Permission denied"])


def on_a_read_only_file_system(yard):
    place = yard.mount("place", "size=8m")
    expect(yard.ask(place, 1, 1), "miss", None)
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)
    return expect(yard.ask(place, 1, 3), "hit,miss,miss", ["Read-only file system"])


def damaged_on_a_read_only_file_system(yard):
    """Two causes, a bad entry and a disk that cannot be written: two lines."""
    place = yard.mount("place", "size=8m")
    expect(yard.ask(place, 1, 1), "miss", None)
    for name in os.listdir(place):
        if name != "lock":
            os.truncate(os.path.join(place, name), 1000)
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)
    results, builds, lines, last = yard.ask(place, 1, 3)
    if (results, builds, lines) != ("miss,miss,miss", 3, 2):
        raise AssertionError(f"{results} {builds} {lines} {last}")
    return last


def on_a_full_file_system(yard):
    place = yard.mount("place", f"size={2 * ENTRY_BYTES}")
    expect(yard.ask(place, 1, 1), "miss", None)
    got = expect(yard.ask(place, 1, 3), "hit,miss,miss", ["No space left on device"])
    left = [name for name in os.listdir(place) if name.endswith(".tmp")]
    if left:
        raise AssertionError(f"left behind: {left}")
    return got


def without_a_free_inode(yard):
    place = yard.mount("place", "size=8m,nr_inodes=2")
    with open(place + "/last", "wb"):
        pass
    return expect(yard.ask(place, 1, 3), "miss,miss,miss", ["No space left on device"])


def owned_by_root(yard):
    return expect(yard.ask(yard.directory("place", 0, 0o755), 1, 3), "off,off,off",
                  ["belongs to user 0"])


def open_to_everybody(yard):
    return expect(yard.ask(yard.directory("place", 0, 0o1777), 1, 3), "off,off,off",
                  ["belongs to user 0"])


def owned_by_a_stranger(yard):
    return expect(yard.ask(yard.directory("place", STRANGER, 0o777), 1, 3), "off,off,off",
                  [f"belongs to user {STRANGER}"])


def writable_by_others(yard):
    return expect(yard.ask(yard.directory("place", USER, 0o770), 1, 3), "off,off,off",
                  ["other users may write", "0770"])


def behind_a_link_of_a_stranger(yard):
    yard.directory("real")
    os.symlink("real", yard.path + "/link")
    os.lchown(yard.path + "/link", STRANGER, STRANGER)
    return expect(yard.ask(yard.path + "/link", 1, 3), "off,off,off", ["a link that another user"])


def with_an_entry_of_a_stranger(yard):
    """Planted before the user took the directory over: one line, then it heals."""
    place = yard.directory("place")
    expect(yard.ask(place, 1, 1), "miss", None)
    for name in os.listdir(place):
        os.chown(os.path.join(place, name), STRANGER, STRANGER)
        os.chmod(os.path.join(place, name), stat.S_IRUSR | stat.S_IROTH)
    results, _, lines, last = yard.ask(place, 1, 1)
    if results != "miss" or "belongs to another user" not in last or lines > 2:
        raise AssertionError(f"{results} {lines} {last}")
    if yard.ask(place, 1, 1)[0] != "hit":
        raise AssertionError("not healed")
    return last


PLACES = [missing_and_makeable, missing_below_what_is_anothers, read_only_by_its_mode,
          not_searchable, not_readable, on_a_read_only_file_system,
          damaged_on_a_read_only_file_system, on_a_full_file_system, without_a_free_inode,
          owned_by_root, open_to_everybody, owned_by_a_stranger, writable_by_others,
          behind_a_link_of_a_stranger, with_an_entry_of_a_stranger]


def try_place(program, number, place):
    """One test: prints its line, and returns whether it failed."""
    yard = Yard(program)
    name = place.__name__.replace("_", " ")
    try:
        print(f"# the user sees: {place(yard) or 'nothing'}")
        print(f"ok {number} - {name}")
        return False
    except Skip as reason:
        print(f"ok {number} - {name} # SKIP {reason}")
        return False
    except AssertionError as wrong:
        print(f"# {wrong}")
        print(f"not ok {number} - {name}")
        return True
    finally:
        yard.remove()


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print("1..0 # SKIP needs root and setpriv")
        return 0
    print(f"1..{len(PLACES)}")
    failed = [try_place(sys.argv[1], number, place) for number, place in enumerate(PLACES, 1)]
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
