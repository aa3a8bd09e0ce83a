"""Cut the power in the middle of a write, on a disk that has kept what was synced and of the rest as little as it may.

`PowerCut` watches every `os.fsync`. After the n-th one it ends the run with `PowerFailure`, which no code catches.
`PowerCut.disk` then writes what a computer finds when it starts again:

- a file has the content that it had when it was last synced, or is empty if it never was;
- a folder has the names that it had when it was last synced ("synced"), or those that it had at the cut ("names", as
  on ext4 with its journal of names), or for each name either of the two at random ("some").
"""

import os
import random
from pathlib import Path


class PowerFailure(BaseException):
    """The end of the run."""


class PowerCut:
    """Watch `os.fsync` for all that lies in `root`, and fail after `last` calls."""

    def __init__(self, root, monkeypatch, last=None):
        self.root, self.last, self.n_synced = Path(root), last, 0
        self._contents, self._names, self._at_cut, self._held = {}, {}, {}, []
        self._sync = os.fsync
        self._note_folder(self.root)
        self.note_all()
        monkeypatch.setattr(os, "fsync", self._watched)

    def _watched(self, descriptor):
        self._sync(descriptor)
        place = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if self.root not in (place, *place.parents):
            return
        if place.is_dir():
            self._note_folder(place)
        else:
            self._held.append(os.dup(descriptor))  # so that no later file has the same number
            self._contents[os.fstat(descriptor).st_ino] = place.read_bytes()
        self.n_synced += 1
        if self.n_synced == self.last:  # before any clean-up
            self._note_cut()
            raise PowerFailure

    def note_all(self):
        """Take everything as it is now as synced."""
        for path in self.root.rglob("*"):
            if path.is_dir():
                self._note_folder(path)
            else:
                self._held.append(os.open(path, os.O_RDONLY))
                self._contents[path.stat().st_ino] = path.read_bytes()

    def _note_folder(self, folder):
        self._held.append(os.open(folder, os.O_RDONLY))
        self._names[folder.stat().st_ino] = names_in(folder)

    def _note_cut(self):
        folders = [path for path in (self.root, *self.root.rglob("*")) if path.is_dir()]
        self._at_cut = {folder.stat().st_ino: names_in(folder) for folder in folders}

    def disk(self, place, kept="synced", seed=0):
        """Write what the disk holds after the cut to the new folder `place`, and return it."""
        if not self._at_cut:  # the run has come to its end
            self._note_cut()
        self._chance, self._kept = random.Random(seed), kept
        self._write(self.root.stat().st_ino, Path(place))
        for descriptor in self._held:
            os.close(descriptor)
        self._held.clear()
        return Path(place)

    def _write(self, inode, place):
        if inode not in self._names and inode not in self._at_cut:
            place.write_bytes(self._contents.get(inode, b""))
            return
        place.mkdir()
        synced = self._names.get(inode, {})
        now = self._at_cut.get(inode, synced)
        for name in sorted({**synced, **now}):
            found = {"synced": synced, "names": now, "some": self._chance.choice([synced, now])}[self._kept]
            if name in found:
                self._write(found[name], place / name)


def names_in(folder):
    """The number of the file behind each name in a folder."""
    return {path.name: path.lstat().st_ino for path in folder.iterdir()}
