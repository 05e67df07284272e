"""Takes out of an image what differs from build to build, and prints its id: settle.py IMAGE NAME.

That is the id of the container that it was made in, and the times of the archive. The id of an image is the hash of its
configuration, which names the hash of each layer.
"""

import hashlib
import io
import json
import os
import sys
import tarfile

image, name = sys.argv[1:]
with tarfile.open(image) as archive:
    [manifest] = json.load(archive.extractfile("manifest.json"))
    config = json.load(archive.extractfile(manifest["Config"]))
    layers = {layer: archive.extractfile(layer).read() for layer in manifest["Layers"]}
config.pop("container", None)
config = json.dumps(config, sort_keys=True).encode()
digest = hashlib.sha256(config).hexdigest()
manifest = [{"Config": f"{digest}.json", "RepoTags": [name], "Layers": list(layers)}]
files = {**layers, f"{digest}.json": config, "manifest.json": json.dumps(manifest).encode()}
with tarfile.open(image, "w", format=tarfile.USTAR_FORMAT) as archive:
    for path, content in files.items():
        entry = tarfile.TarInfo(path)
        entry.size, entry.mtime = len(content), int(os.environ["SOURCE_DATE_EPOCH"])
        archive.addfile(entry, io.BytesIO(content))
print(f"sha256:{digest}")
