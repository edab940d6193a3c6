"""The mapping methods that an importer and its nested collections share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.importers import steps
from airflow_provider_ingest.importers.mapping import DuplicateStrategy, Key, Mapping, Relation
from airflow_provider_ingest.importers.model import check_model, column_name, model_columns, primary_key
from airflow_provider_ingest.importers.suggestions import listed
from airflow_provider_ingest.importers.target import TargetSpec

if TYPE_CHECKING:
    from airflow_provider_ingest.importers.nested import NestedConfig

    Field = str | Sequence[str] | None

Self = TypeVar("Self", bound="MappingBuilder")


class MappingBuilder:
    """Base of :class:`IngestConfig` and :class:`NestedConfig`: each method returns a new definition."""

    __slots__ = ()

    target: TargetSpec | None
    mappings: tuple[Mapping, ...]
    relations: tuple[Relation, ...]
    nested: tuple[NestedConfig, ...]
    key: Key | None

    @property
    def where(self) -> str:
        """What messages call this definition."""
        raise AttributeError("defined by the subclasses")

    @property
    def may_double(self) -> bool:
        """Whether a row that is imported once more may be there twice, or an element nested in it: without a key
        nothing tells that it is there. Below a record that is left as it is, so are its elements.
        """
        if self.key is None:
            return True
        if self.key.on_duplicate in (DuplicateStrategy.SKIP, DuplicateStrategy.FAIL):
            return False
        return any(nested.may_double for nested in self.nested)

    def map(self: Self, field: Field, attribute: str) -> Self:
        """Copy a source field to an attribute.

        :param field: a name, or a list of aliases of which the first that the file has is taken.
        """
        return self._mapped(field, attribute)

    def map_and_transform(self: Self, field: Field, attribute: str, transformer: Any) -> Self:
        """Map through one transformer or a list of them, applied in order.

        :param field: ``None`` for a transformer that builds its value from the row, such as ``ConcatTransformer``.
        """
        return self._mapped(field, attribute, transformers=_given(transformer, "transformer", self, attribute))

    def map_and_validate(self: Self, field: Field, attribute: str, validator: Any) -> Self:
        """Map and check with one validator or a list of them."""
        return self._mapped(field, attribute, validators=_given(validator, "validator", self, attribute))

    def map_transform_and_validate(
        self: Self, field: Field, attribute: str, transformers: Any, validators: Any
    ) -> Self:
        """Map through the transformers, then check the transformed value."""
        return self._mapped(field, attribute, transformers=transformers, validators=validators)

    def map_when(
        self: Self, field: Field, attribute: str, condition: Any, transformer: Any = None, validator: Any = None
    ) -> Self:
        """Map only where a condition on the raw row is true; elsewhere the attribute is not set at all.

        :param condition: a callable that takes the row (a mapping; in JSON and XLSX with the types of the file), a
            Polars expression over the raw columns (always text), or a
            :class:`~airflow_provider_ingest.importers.mapping.ConditionalMapping` object, which brings its own
            transformer and validator.
        """
        where = self._at(attribute)
        if hasattr(condition, "should_apply"):
            if transformer is not None or validator is not None:
                raise ConfigError(f"{where}: the conditional mapping object brings its own transformer and validator.")
            for ours, theirs, what in (
                (steps.source_fields(field, where), steps.source_fields(condition.source_field, where), "source field"),
                (attribute, condition.attribute, "attribute"),
            ):
                if ours != theirs:
                    raise ConfigError(f"{where}: map_when says the {what} is {ours!r}, its object says {theirs!r}.")
            return self._mapped(
                field,
                attribute,
                transformers=condition.transformer,
                validators=condition.validator,
                when=steps.NamedCondition(condition.should_apply, steps.qualified_name(type(condition))),
            )
        when = steps.condition(condition, where)
        return self._mapped(field, attribute, transformers=transformer, validators=validator, when=when)

    def relate(
        self: Self,
        field: str,
        attribute: str,
        model: Any,
        *,
        key: str,
        value: str | None = None,
        create_missing: bool = False,
    ) -> Self:
        """Fill a foreign key by a natural key: look the field's value up in ``model.key``, in bulk.

        :param attribute: the foreign key's attribute, which gets the ``value`` column of the row found.
        :param value: default: the primary key of the model (``id`` where only the database knows it).
        :param create_missing: insert a row for an unknown key instead of failing with ``not_found``.
        """
        where = self._at(attribute)
        check_model(model, where)
        names = steps.source_fields(field, where)
        if len(names) != 1:
            raise ConfigError(f"{where}: relate() takes exactly one source field, not {field!r}.")
        other = TargetSpec(model=model, conn_id=self.target.conn_id if self.target else "")
        if value is None:
            found = primary_key(model)
            if len(found) > 1:
                raise ConfigError(f'{where}: "{other.label}" has a composite primary key; name the column by value=.')
            value = found[0] if found else "id"
        made = Relation(
            field=names[0],
            attribute=self._free(attribute, conditional=False),
            table=other.label,
            key=column_name(other, key, where),
            value=column_name(other, value, where),
            create_missing=create_missing,
        )
        return replace(self, relations=(*self.relations, made))  # type: ignore[type-var]

    def keyed_by(
        self: Self,
        *attributes: str | Sequence[str],
        on_duplicate: DuplicateStrategy | str = DuplicateStrategy.UPDATE,
        newer: str | tuple[str, str] | None = None,
    ) -> Self:
        """Say which attributes identify a record, and what to do with a row whose record exists.

        :param on_duplicate: ``UPDATE`` (default), ``SKIP``, ``FAIL``, or ``UPDATE_IF_NEWER``.
        :param newer: for ``UPDATE_IF_NEWER``: the mapped attribute to compare, or ``(source field, column)``.
        """
        where = f"{self.where}: keyed_by()"
        names = [name for one in attributes for name in ((one,) if isinstance(one, str) else one)]
        if not names or len(set(names)) != len(names) or not all(isinstance(name, str) and name for name in names):
            raise ConfigError(f"{where} takes the names of one or more attributes, each once; got {names!r}.")
        if on_duplicate not in list(DuplicateStrategy):
            raise ConfigError(f"{where}: on_duplicate is {on_duplicate!r}; it is one of {listed(DuplicateStrategy)}.")
        strategy = DuplicateStrategy(on_duplicate)
        if (newer is not None) is not (strategy is DuplicateStrategy.UPDATE_IF_NEWER):
            raise ConfigError(f"{where}: newer= and on_duplicate=UPDATE_IF_NEWER need each other.")
        columns = tuple(self._key_column(name, where) for name in names)
        built, field, column = self, None, None
        if newer is not None:
            built, field, column = self._newer(newer, where)
        unique = self.key.assume_unique if self.key else False
        key = Key(
            attributes=columns, on_duplicate=strategy, newer_field=field, newer_column=column, assume_unique=unique
        )
        return replace(built, key=key)  # type: ignore[type-var]

    def nest(self: Self, path: str, callback: Callable[[NestedConfig], NestedConfig]) -> Self:
        """Map a nested array or object of JSON rows into a related target.

        :param path: the key that holds it; dots lead through objects (``data.items``).
        :param callback: receives an empty :class:`NestedConfig` and returns the finished one.
        """
        from airflow_provider_ingest.importers.nested import define_nested

        return replace(self, nested=(*self.nested, define_nested(self, path, callback)))  # type: ignore[type-var]

    def _mapped(
        self: Self,
        field: Field,
        attribute: str,
        *,
        transformers: Any = None,
        validators: Any = None,
        when: steps.NamedCondition | None = None,
    ) -> Self:
        where = self._at(attribute)
        fields = steps.source_fields(field, where)
        made = steps.transformers(transformers, where)
        steps.check_field(fields, made, where)
        mapping = Mapping(
            fields=fields,
            attribute=self._free(attribute, conditional=when is not None),
            transformers=made,
            validators=steps.validators(validators, where),
            condition=when.condition if when else None,
            condition_name=when.name if when else None,
        )
        return replace(self, mappings=(*self.mappings, mapping))  # type: ignore[type-var]

    def _free(self, attribute: Any, *, conditional: bool) -> str:
        where = self._at(attribute)
        if not isinstance(attribute, str) or not attribute:
            raise ConfigError(f"{where}: the attribute is {attribute!r}; give the name of an attribute of the target.")
        column = column_name(self.target, attribute, where)
        if column.startswith("_set:") or column in steps.RESERVED_FIELDS or column == "_parent":
            raise ConfigError(f'{where}: "{column}" is a name that the service itself uses.')
        others = [mapping for mapping in self.mappings if mapping.attribute == column]
        if any(relation.attribute == column for relation in self.relations) or any(
            not conditional or other.condition is None for other in others
        ):
            raise ConfigError(
                f"{where}: it is mapped twice. Several mappings may share an attribute only if each is a "
                "map_when() and their conditions exclude each other."
            )
        return column

    def _key_column(self, name: str, where: str) -> str:
        by_field = {mapping.attribute for mapping in self.mappings if name in mapping.fields}
        columns = model_columns(self.target.model) if self.target else None
        known = columns is not None and (name in columns or name in {column.name for column in columns.values()})
        is_attribute = known or any(mapping.attribute == name for mapping in self.mappings)
        if not is_attribute and len(by_field) == 1:
            return by_field.pop()
        return column_name(self.target, name, where)

    def _newer(self: Self, newer: Any, where: str) -> tuple[Self, str, str]:
        if isinstance(newer, str):
            column = column_name(self.target, newer, where)
            mapping = next((one for one in self.mappings if one.attribute == column and one.fields), None)
            if mapping is None:
                raise ConfigError(
                    f'{where}: newer="{newer}" is not mapped; map it first, or give newer=(source field, column).'
                )
            return self, mapping.fields[0], column
        if not (isinstance(newer, tuple) and len(newer) == 2 and all(isinstance(one, str) and one for one in newer)):
            raise ConfigError(f"{where}: newer is {newer!r}; give an attribute, or (source field, column).")
        field, column = newer[0], column_name(self.target, newer[1], where)
        mapping = next((one for one in self.mappings if one.attribute == column), None)
        if mapping is None:
            return self.map(field, column), field, column
        if field not in mapping.fields:
            raise ConfigError(
                f'{where}: newer compares "{field}" with "{column}", but "{column}" is filled from '
                f"{listed(mapping.fields)}; it must be filled from the field that is compared."
            )
        return self, field, column

    def _at(self, attribute: Any) -> str:
        return f'{self.where}, attribute "{attribute}"'


def _given(steps_given: Any, what: str, config: MappingBuilder, attribute: str) -> Any:
    if steps_given is None or (isinstance(steps_given, (list, tuple)) and not steps_given):
        raise ConfigError(f'{config.where}, attribute "{attribute}": no {what} is given; use map() for a plain copy.')
    return steps_given
