package io.exactlyonce.listener.expression;

import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.listener.expression.Known.Origin;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.messaging.Message;

/**
 * Rules for the result of an expression, which becomes a key or a fingerprint. The rules are checked when the
 * application starts, and use only what is known then. Later {@link KeyRules} check the value for each message.
 *
 * @param refusal makes exceptions that name the expression
 */
record ResultRules(Purpose purpose, Refusal refusal) {

    /** Interfaces that no text and no number implements. */
    private static final List<Class<?>> NO_TEXT = List.of(Map.class, Set.class, Message.class);

    boolean takesLists() {
        return purpose == Purpose.FINGERPRINT;
    }

    /** @throws RuntimeException if messages that have nothing in common would get the same key or fingerprint */
    void requireOwn(Known result) {
        if (result.origin() == Origin.MESSAGE) {
            return;
        }
        throw refusal.of(
                result.origin() == Origin.SHARED
                        ? "reads only what messages share that have nothing else in common"
                        : "does not depend on the message, so that it is the same for all",
                purpose == Purpose.KEY
                        ? FrameworkHeaders.BUSINESS_KEY
                        : "name the content that all messages of a key share, such as #order.amount; to compare nothing, set "
                                + "on-mismatch: off for the listener");
    }

    /** @throws RuntimeException if no value of this type can be a key or fingerprint */
    void require(SpelNode node, Known value) {
        if (!isUsable(value)) {
            throw refusal.of(
                    "has the result '%s' of type %s, which cannot be a %s"
                            .formatted(node.toStringAST(), value.raw().getTypeName(), purpose),
                    remedy(node, value));
        }
    }

    /** Returns whether a value of this type can be a key or fingerprint, as far as this is known. */
    private boolean isUsable(Known value) {
        if (value.isUnknown() || !isCertain(value)) {
            return true;
        }
        if (value.isClass()) {
            return false;
        }
        return purpose == Purpose.KEY
                ? KeyRules.canBeKey(value.raw())
                : KeyRules.canBeFingerprint(value.raw())
                        && (!value.is(List.class) || isUsable(value.argument(List.class, 0)));
    }

    /**
     * Returns whether the known type is enough to decide if a value can be a key or fingerprint. It is not enough if a
     * subclass could be a text or a number.
     */
    private boolean isCertain(Known value) {
        return value.isExact()
                || Texts.isConcrete(value.raw())
                || NO_TEXT.stream().anyMatch(value::is)
                || value.is(purpose == Purpose.KEY ? Collection.class : List.class);
    }

    private String remedy(SpelNode node, Known value) {
        String path = node.toStringAST();
        if (value.isClass()) {
            return "call a static method of the class, such as %s.of(#order)".formatted(path);
        }
        Class<?> type = value.raw();
        if (KeyRules.isFloating(type)) {
            return "its text is rounded, so that two numbers may be one key: declare it as a long, a BigDecimal or a String, or "
                    + "name another property";
        }
        if (type == Boolean.class && purpose == Purpose.KEY) {
            return "it has two values only: name what tells messages apart, such as #order.orderId";
        }
        if (node instanceof InlineList) {
            return "concatenate its entries: "
                    + IntStream.range(0, node.getChildCount())
                            .mapToObj(child -> node.getChild(child).toStringAST())
                            .collect(Collectors.joining(" + '/' + "));
        }
        if (type.isArray() || value.is(Collection.class)) {
            return "name one of its elements, such as %s[0]".formatted(path);
        }
        if (value.is(Map.class)) {
            return "name one of its entries, such as %s['id']".formatted(path);
        }
        if (value.is(Optional.class)) {
            return "write %s.orElse(null)".formatted(path);
        }
        if (isDate(type)) {
            return "write %s.time".formatted(path);
        }
        if (type == void.class) {
            return "call a method that returns the %s".formatted(purpose);
        }
        if (type.getName().startsWith("java.")) {
            return "write %s.toString()".formatted(path);
        }
        List<String> usable = Suggestions.usable(path, type);
        return usable.isEmpty()
                ? "let a bean make it, such as @keys.of(%s)".formatted(path)
                : "write " + String.join(" or ", usable);
    }

    /** Returns whether the type is a date whose text depends on the JVM's time zone. */
    private static boolean isDate(Class<?> type) {
        return type.getName().equals("java.util.Date")
                || (type.getSuperclass() != null && isDate(type.getSuperclass()));
    }
}
