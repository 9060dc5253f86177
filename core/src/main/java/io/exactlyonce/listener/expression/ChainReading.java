package io.exactlyonce.listener.expression;

import io.exactlyonce.listener.expression.Known.Origin;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;

/**
 * Checks chains such as {@code #order.customer.name.trim()} when the application starts, link by link. A link is a
 * property, a method call or an index such as {@code [0]}. If the type of a value cannot have the next link, startup
 * fails. If a subclass of that type may have the link, startup continues.
 */
final class ChainReading {

    private static final String ALL = "?[";

    private static final Set<String> JSON_NODES =
            Set.of("tools.jackson.databind.JsonNode", "com.fasterxml.jackson.databind.JsonNode");

    private final Members members;
    private final MessageParts parts;
    private final Texts texts;
    private final Refusal refusal;

    ChainReading(Members members, MessageParts parts, Texts texts, Refusal refusal) {
        this.members = members;
        this.parts = parts;
        this.texts = texts;
        this.refusal = refusal;
    }

    /**
     * @param isNullSafe whether the link is written with {@code ?.}, which also reads the value inside an {@code
     *     Optional}
     */
    Known property(Known target, String name, boolean isNullSafe) {
        Known receiver = isNullSafe ? target.unwrapped() : target;
        Known found = propertyOf(receiver, name);
        if (found == null && isNullSafe) {
            found = propertyOf(target, name);
        }
        if (found == null) {
            throw refusal.of(
                    "reads the property '%s', which %s does not have"
                            .formatted(name, receiver.raw().getTypeName()),
                    isJsonNode(receiver.raw()) ? Suggestions.jsonField(name) : Suggestions.properties(receiver));
        }
        return found;
    }

    /** Returns what is known about a property of a value; {@code null} if the value cannot have this property. */
    private @Nullable Known propertyOf(Known receiver, String name) {
        Known part = parts.property(receiver, name);
        if (part != null) {
            return part;
        }
        texts.requireOwn(name, receiver);
        Class<?> type = receiver.raw();
        if (receiver.isClass()) {
            Member member = members.staticProperty(type, name);
            return member == null ? null : staticValue(receiver, member);
        }
        Member member = members.property(type, name);
        if (receiver.is(Map.class)) {
            boolean isEntry = member == null && members.property(LinkedHashMap.class, name) == null;
            return isEntry ? receiver.argument(Map.class, 1) : receiver.readUnknown();
        }
        if (type.isArray() && name.equals("length")) {
            return receiver.read(Integer.class);
        }
        if (member == null) {
            return receiver.isExact() || isJsonNode(type) ? null : receiver.readUnknown();
        }
        return receiver.isExact() || Members.isInherited(member, name)
                ? value(receiver, member)
                : receiver.readUnknown();
    }

    /**
     * Returns whether a type is a JSON node of Jackson. The fields of a JSON node are not properties of its class.
     * Class names are compared, because an application may have either Jackson version, both, or none.
     */
    private static boolean isJsonNode(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            if (JSON_NODES.contains(each.getName())) {
                return true;
            }
        }
        return false;
    }

    private static Known staticValue(Known receiver, Member member) {
        if (member instanceof Field field
                && Modifier.isFinal(field.getModifiers())
                && Modifier.isStatic(field.getModifiers())) {
            try {
                Object value = field.get(null);
                if (value instanceof String || value instanceof Number || value instanceof Enum<?>) {
                    return Known.constant(value);
                }
            } catch (IllegalAccessException hidden) {
                return receiver.as(Known.Role.VALUE).readUnknown();
            }
        }
        return value(receiver, member);
    }

    private static Known value(Known receiver, Member member) {
        // SpEL can read static members of a class that getClass returns. Which class that is depends on the message, so
        // nothing is known about these members.
        if (member.getDeclaringClass() == Object.class && member.getName().equals("getClass")) {
            return Known.unknown(Origin.SHARED);
        }
        return receiver.read(Members.type(member, receiver.type()));
    }

    Known method(Known target, String name, List<Known> arguments, boolean isNullSafe) {
        Known receiver = isNullSafe ? target.unwrapped() : target;
        Known found = methodOf(receiver, name, arguments);
        if (found == null && isNullSafe) {
            found = methodOf(target, name, arguments);
        }
        if (found == null) {
            throw refusal.of(
                    "calls the method '%s' with %d arguments, which %s does not have"
                            .formatted(name, arguments.size(), receiver.raw().getTypeName()),
                    Suggestions.properties(receiver));
        }
        return found;
    }

    private @Nullable Known methodOf(Known receiver, String name, List<Known> arguments) {
        Known part = parts.method(receiver, name, arguments);
        if (part != null) {
            return part;
        }
        if (receiver.raw() == String.class) {
            arguments.forEach(texts::requireText);
        }
        if (arguments.isEmpty()) {
            texts.requireOwn(name, receiver);
        }
        List<Method> found = receiver.isClass()
                ? members.staticMethods(receiver.raw(), name, arguments.size())
                : members.methods(receiver.raw(), name, arguments.size());
        for (Method method : found) {
            Unrepeatable.refuse(method, refusal);
            Operators.requireBounded(method, refusal);
        }
        Origin origin = receiver.origin();
        for (Known argument : arguments) {
            origin = origin.and(argument.origin());
        }
        if (found.isEmpty()) {
            return receiver.isExact() ? null : Known.unknown(origin);
        }
        // The type of the result is not certain if the call has arguments: a subclass may have a method of the same
        // name that fits the arguments better.
        boolean isCertain = receiver.isExact() || arguments.isEmpty();
        boolean isOne = found.stream()
                .allMatch(each -> each.getReturnType() == found.get(0).getReturnType());
        return isCertain && isOne ? value(receiver.from(origin), found.get(0)) : Known.unknown(origin);
    }

    /**
     * Returns what is known about the value that an index such as {@code [0]} or {@code ['id']} reads: a map's entry,
     * an element, or a property.
     *
     * @param node the expression in the brackets
     * @param index what is known about the value of that expression
     */
    Known entry(Known target, SpelNode node, Known index, boolean isNullSafe) {
        Known receiver = isNullSafe ? target.unwrapped() : target;
        Known part = parts.entry(receiver, index);
        if (part != null) {
            return part;
        }
        Class<?> type = receiver.raw();
        if (receiver.is(Map.class)) {
            return receiver.argument(Map.class, 1).from(receiver.origin().and(index.origin()));
        }
        boolean isIndexed = type.isArray() || receiver.is(Collection.class) || receiver.is(String.class);
        if (node instanceof PropertyOrFieldReference name && (isIndexed || receiver.isExact())) {
            throw refusal.of(
                    "names '%s' without an argument".formatted(name.getName()),
                    "write ['%s'] for a property, or an argument such as [#order.index]".formatted(name.getName()));
        }
        if (isJsonNode(type) && index.constant() instanceof String field) {
            return property(receiver, field, false);
        }
        Known element = isIndexed ? element(receiver) : null;
        if (element != null) {
            return element;
        }
        if (index.constant() instanceof String property) {
            return property(receiver, property, false);
        }
        if (receiver.isExact() && index.isExact() && !index.is(String.class)) {
            throw refusal.of(
                    "reads an element of %s, which has none".formatted(type.getTypeName()),
                    Suggestions.properties(receiver));
        }
        return receiver.readUnknown();
    }

    /**
     * Returns what is known about the elements of a collection, an array, or a text; {@code null} for any other value.
     */
    @Nullable Known element(Known receiver) {
        if (receiver.raw().isArray()) {
            return receiver.read(receiver.type().getComponentType());
        }
        if (receiver.is(String.class)) {
            return receiver.read(String.class);
        }
        return receiver.is(Iterable.class) ? receiver.argument(Iterable.class, 0) : null;
    }

    /**
     * Returns what is known about the items of a selection such as {@code #lines.?[isOpen]}, or of a projection such as
     * {@code #lines.![id]}. Items are the elements of a collection, or the entries of a map.
     */
    Known item(Known target, boolean isNullSafe) {
        Known receiver = isNullSafe ? target.unwrapped() : target;
        parts.requirePart(receiver);
        if (receiver.is(Map.class)) {
            ResolvableType map = receiver.type().as(Map.class);
            return receiver.read(
                    ResolvableType.forClassWithGenerics(Map.Entry.class, map.getGeneric(0), map.getGeneric(1)));
        }
        Known element = receiver.is(String.class) ? null : element(receiver);
        if (element == null && receiver.isExact()) {
            throw refusal.of(
                    "selects of %s, which is no collection"
                            .formatted(receiver.raw().getTypeName()),
                    Suggestions.properties(receiver));
        }
        return element == null ? receiver.readUnknown() : element;
    }

    /**
     * Returns what is known about the result of a selection, such as {@code #lines.?[isOpen]}.
     *
     * @param item what is known about each item
     */
    Known selected(Known target, Known item, SpelNode selection) {
        if (target.is(Map.class)) {
            return target;
        }
        // SpEL's syntax tree does not say whether a selection returns all matching items, the first or the last. Only
        // the tree's text shows this.
        if (!selection.toStringAST().startsWith(ALL)) {
            return target.raw() == Object.class ? target.readUnknown() : item;
        }
        boolean isList = target.is(Iterable.class);
        return isList
                ? target.read(ResolvableType.forClassWithGenerics(List.class, item.type()))
                : target.raw().isArray() ? target : target.readUnknown();
    }
}
