package io.exactlyonce.listener.expression;

import java.lang.reflect.Modifier;
import java.util.stream.Stream;

/** Rules for texts that expressions make from values. A text with an object's address differs in each JVM. */
final class Texts {

    static final String TO_STRING = "toString";
    static final String HASH_CODE = "hashCode";

    private final MessageParts parts;
    private final Refusal refusal;

    Texts(MessageParts parts, Refusal refusal) {
        this.parts = parts;
        this.refusal = refusal;
    }

    /** @throws RuntimeException the listener's refusal, if SpEL's text of the value does not identify the value */
    void requireText(Known value) {
        parts.requirePart(value);
        // SpEL writes the elements of an array.
        if (!value.raw().isArray()) {
            requireOwn(TO_STRING, value);
        }
    }

    /**
     * Checks a call of a method that every object has.
     *
     * @param method {@link #TO_STRING}, {@link #HASH_CODE} or another one
     * @throws RuntimeException the listener's refusal, if the method is {@code Object}'s
     */
    void requireOwn(String method, Known value) {
        Class<?> type = value.raw();
        boolean isIdentity = Stream.of(TO_STRING, HASH_CODE).anyMatch(method::equals);
        if (isIdentity
                && !value.isUnknown()
                && !value.isClass()
                && isConcrete(type)
                && isInheritedFromObject(type, method)) {
            throw refusal.of(
                    "reads %s() of %s, which is another one in each JVM".formatted(method, type.getTypeName()),
                    "name properties of %s that have a text".formatted(type.getSimpleName()));
        }
    }

    /** Returns whether a class can have direct instances. */
    static boolean isConcrete(Class<?> type) {
        return type.isArray() || !Modifier.isAbstract(type.getModifiers());
    }

    private static boolean isInheritedFromObject(Class<?> type, String method) {
        try {
            return type.getMethod(method).getDeclaringClass() == Object.class;
        } catch (NoSuchMethodException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
