"""What the operator says: upstreams, mode, policy by model, limits. Read from flags and a TOML file; fixed while the proxy runs.

The rule: nothing of a request can change a setting, and a setting that is not known is refused, never ignored.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import field
from msgspec.structs import replace

from transom import catalog
from transom.catalog import ModelCard
from transom.errors import BadSetting
from transom.frozen import Frozen
from transom.policy import FOLDING, Policy
from transom.types import JsonObject

Family: TypeAlias = Literal["anthropic", "openai", "gemini"]
Mode: TypeAlias = Literal["fit", "shadow", "strict"]

FAMILIES: Final[tuple[Family, ...]] = ("anthropic", "openai", "gemini")
MODES: Final[tuple[Mode, ...]] = ("fit", "shadow", "strict")
CARD_FIELDS: Final = ("window", "input_limit", "output_limit")
BESIDE: Final = ("listen", "upstream", "policy", "models", "fold")
"""Settings that are no field of Settings, or tables of their own."""
VERSIONS: Final = ("v1", "v1beta", "v1alpha")
MEGABYTE: Final = 2**20
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
_PATH: Final = re.compile(r"[!-~]*")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A header's name (RFC 9110, section 5.6.2)."""
_NO_LESS: Final = ("max_images", "max_body_bytes")
"""Fields of Policy that 0 turns off, so that less than 0 is a slip."""
_CONFIG: Final = "give the path of a TOML file, or leave --config out"
FOLDS: Final = {name: FOLDING[name] for name in ("trigger", "chunk_tokens", "recent_tokens", "fold_first")}
"""What folding changes of the policy unless the operator says otherwise; limits of pictures stay the model's own."""


class Upstream(Frozen, frozen=True, kw_only=True):
    """Where the requests of a family go: scheme, host and port, and the path in front of the API's own."""

    family: Family
    scheme: str
    host: str
    port: int | None
    path: str

    @property
    def authority(self) -> str:
        """What the `Host` header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host

    def below(self, path: str) -> str:
        """The whole path for an API's own path. A version that both end and begin with is written once."""
        head, _, last = self.path.rpartition("/")
        return f"{head}{path}" if last in VERSIONS and path.startswith(f"/{last}/") else f"{self.path}{path}"


class ModelRule(Frozen, frozen=True, kw_only=True):
    """What holds for models whose name fits `pattern` (`claude-*`): other fields of Policy, of the card, and who `bills`."""

    pattern: str
    policy: JsonObject = field(default_factory=dict)
    card: Mapping[str, int] = field(default_factory=dict)
    bills: str = ""


class Folding(Frozen, frozen=True, kw_only=True):
    """Who sums up: `model` at the upstream of a family, with the operator's own `key` ("": the client's credential).

    seconds: how long a request waits for all its summaries. most: requests to the summary model for one of a client.
    options: fields that go into each of them as they are; for Gemini, into its `generationConfig`.
    """

    unshown = ("key",)

    model: str
    upstream: Family
    key: str = ""
    seconds: float = 60.0
    most: int = 4
    options: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not isinstance(self.model, str):
            raise BadSetting(f"fold.model is {self.model!r}; it is the name of a model, so write it in quotes")
        if not self.model:
            raise BadSetting("folding needs a summary model; give one, such as --summary-model gpt-4o-mini")
        _positive(self, "seconds", before="fold.")
        _positive(self, "most", before="fold.", whole=True)


class Settings(Frozen, frozen=True, kw_only=True):
    """All of it. Sizes are bytes, times are seconds.

    mode: "fit" changes what must change; "shadow" observes and changes nothing; "strict" refuses rather than sends too much.
    tenant_header: a header that the operator's own gateway sets, and that names the tenant; "": the caller's credential does.
    store: a SQLite file that states are kept in; "": memory.
    max_body: the largest body that is planned, before and after decompression; `max_held` all of them together.
    threaded: bodies of this size are planned in a thread.
    connect, idle: how long a connection, and silence of the upstream, may take.
    slow_client: how long silence of a client that sends a body may take, and each head of a request.
    """

    upstreams: Mapping[Family, Upstream]
    mode: Mode = "fit"
    policy: Policy = field(default_factory=Policy.sliding)
    models: tuple[ModelRule, ...] = ()
    store: str = ""
    tenant_header: str = ""
    max_body: int = 128 * MEGABYTE
    max_held: int = 1_024 * MEGABYTE
    threaded: int = 256 * 1_024
    connect: float = 10.0
    idle: float = 600.0
    slow_client: float = 60.0
    retry: bool = True
    folding: Folding | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.mode not in MODES:
            raise BadSetting(f"mode is {self.mode!r}; it is one of {', '.join(MODES)}")
        for name in ("max_body", "max_held", "threaded"):
            _positive(self, name, whole=True)
        for name in ("connect", "idle", "slow_client"):
            _positive(self, name)
        for name in ("store", "tenant_header"):
            if not isinstance(getattr(self, name), str):
                raise BadSetting(f"{name} is {getattr(self, name)!r}; it is text, so write it in quotes")
        if self.tenant_header and not _TOKEN.fullmatch(self.tenant_header):
            raise BadSetting(f"tenant_header is {self.tenant_header!r}, which is no name of a header; give one such as x-team")
        if not isinstance(self.retry, bool):
            raise BadSetting(f"retry is {self.retry!r}; it is true or false, without quotes")

    def of_model(self, model: str, api: str) -> tuple[Policy, ModelCard]:
        """The policy and the card for a model; of several rules that fit, later ones win field by field."""
        policy, bills = self.policy, model
        changed: dict[str, int] = {}
        for rule in self.models:
            if fnmatchcase(model, rule.pattern):
                policy = policy.having(**rule.policy)
                changed |= rule.card
                bills = rule.bills or bills
        card = catalog.card(bills, api=api)
        sizes = {name: changed.get(name, getattr(card, name)) for name in CARD_FIELDS}
        return policy, replace(card, **sizes) if changed else card


def upstream(family: str, url: str) -> Upstream:
    """An entry of the table. Raises BadSetting for a name or URL that cannot be one."""
    named = next((known for known in FAMILIES if known == family), None)
    if named is None:
        raise BadSetting(f"upstream {family!r} is none; it is one of {', '.join(FAMILIES)}")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadSetting(f"upstream {family}={url!r} is no URL ({error})") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSetting(f"upstream {family}={url!r} is no http or https URL; give one such as https://api.example.com")
    if not (_HOST.fullmatch(parts.hostname) and _PATH.fullmatch(parts.path)):
        raise BadSetting(
            f"upstream {family}={url!r} cannot be sent as it is; write its host in ASCII (xn--...), and percent-encode spaces "
            "and letters beyond ASCII in its path (%20)"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadSetting(f"upstream {family} may hold a host and a path, no credential, query or fragment")
    return Upstream(family=named, scheme=parts.scheme, host=parts.hostname, port=port, path=parts.path.rstrip("/"))


def table(given: JsonObject) -> dict[Family, Upstream]:
    """The table of upstreams from names and URLs."""
    made = [upstream(name, str(url)) for name, url in given.items()]
    return {one.family: one for one in made}


def from_file(name: str) -> JsonObject:
    """The settings in a TOML file, as arguments of `build`. Raises BadSetting with the place of what is wrong."""
    try:
        with Path(name).open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise BadSetting(f"--config {name} cannot be read ({error.strerror}); {_CONFIG}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"--config {name} is no TOML ({error}); mend it there, or {_CONFIG}") from error


def build(raw: JsonObject) -> Settings:
    """Settings from plain values: those of a TOML file with the flags laid over them."""
    given = dict(raw)
    upstreams = table(mapping(given.pop("upstream", {}), "upstream"))
    if not upstreams:
        raise BadSetting("there is no upstream; give one, such as --upstream anthropic=https://api.anthropic.com")
    folding = _folding(given.pop("fold"), upstreams) if "fold" in given else None
    begun = FOLDS if folding is not None else {}
    policy = _policy(Policy.sliding(**begun), _settled(mapping(given.pop("policy", {}), "policy")), "policy")
    models = tuple(_rule(name, rule) for name, rule in mapping(given.pop("models", {}), "models").items())
    known = set(Settings.__struct_fields__) - {"upstreams", "policy", "models", "folding"}
    for name in given:
        if name not in known:
            raise BadSetting(f"there is no setting {name!r}; there are {', '.join(sorted({*known, *BESIDE}))}")
    settings = Settings(upstreams=upstreams, policy=policy, models=models, folding=folding, **given)
    for rule in models:
        _policy(settings.policy, rule.policy, f"models.{rule.pattern!r}")  # refuses now what it would at the first request
    return settings


def listening(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, `[::1]:PORT` or `PORT`. Raises BadSetting for anything else."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdigit() or not int(port) < 2**16:
        raise BadSetting(f"listen is {text!r}; it is HOST:PORT, such as 127.0.0.1:8100")
    return host, int(port)


def is_local(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _folding(raw: object, upstreams: Mapping[Family, Upstream]) -> Folding:
    """Who sums up. The key is read from the environment here, once, and stands nowhere else."""
    given = mapping(raw, "fold")
    known = {*Folding.__struct_fields__, "key_env"} - {"key"}
    for name in given:
        if name not in known:
            raise BadSetting(f"there is no setting fold.{name}; there are {', '.join(sorted(known))}")
    variable = given.pop("key_env", "")
    if not isinstance(variable, str):
        raise BadSetting(f"fold.key_env is {variable!r}; it is the name of a variable of the environment, so write it in quotes")
    if variable and not os.environ.get(variable):
        raise BadSetting(f"fold.key_env names the variable {variable}, which is not set; set it to the summary model's key")
    name = given.pop("upstream", next(iter(upstreams)) if len(upstreams) == 1 else "")
    upstream = next((known for known in upstreams if known == name), None)
    if upstream is None:
        raise BadSetting(f"the summary model's upstream is {name!r}; give --summary-upstream, one of {', '.join(upstreams)}")
    given |= {"model": given.get("model", ""), "options": mapping(given.get("options", {}), "fold.options")}
    return Folding(upstream=upstream, key=os.environ[variable] if variable else "", **given)


def _rule(pattern: str, raw: object) -> ModelRule:
    given = _settled(mapping(raw, f"models.{pattern!r}"))
    card: JsonObject = {name: given.pop(name) for name in CARD_FIELDS if name in given}
    for name, value in card.items():
        if type(value) is not int or value <= 0:
            raise BadSetting(f"models.{pattern!r}.{name} is {value!r}; it is a positive number of tokens")
    bills = given.pop("bills", "")
    if not isinstance(bills, str) or (bills and not catalog.card(bills).known):
        raise BadSetting(
            f"models.{pattern!r}.bills is {bills!r}; it is the name of a model whose prices are known, one of `transom models`"
        )
    return ModelRule(pattern=pattern, policy=given, card=card, bills=bills)


def _settled(given: JsonObject) -> JsonObject:
    return {name.replace("-", "_"): tuple(value) if isinstance(value, list) else value for name, value in given.items()}


def _policy(begun: Policy, given: JsonObject, place: str) -> Policy:
    """A policy with other values for these fields. Raises BadSetting with the place where they stand."""
    for name in _NO_LESS:
        value = given.get(name)
        if isinstance(value, int | float) and value < 0:
            raise BadSetting(f"{place}.{name} is {value}; it is a positive number, 0 for no limit but the model's, or left out")
    try:
        return begun.having(**given)
    except BadSetting as error:
        raise BadSetting(f"{place}: {error}") from error


def _positive(settings: object, name: str, *, before: str = "", whole: bool = False) -> None:
    value = getattr(settings, name)
    kind = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < math.inf:
        raise BadSetting(f"{before}{name} is {value!r}; it is a positive {'whole ' if whole else ''}number")


def mapping(value: object, name: str) -> JsonObject:
    """A table of settings. Raises BadSetting for what is none."""
    if not isinstance(value, dict):
        raise BadSetting(f"{name} is {value!r}; it is a table of names and values")
    return dict(value)
