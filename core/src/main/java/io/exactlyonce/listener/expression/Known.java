package io.exactlyonce.listener.expression;

import java.lang.reflect.Modifier;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Says what is known about a value in an expression when the application starts. Even if its type is known, the value
 * may be {@code null} for a message.
 *
 * @param type the value's class, or one of its superclasses or interfaces; {@code Object} if nothing is known. For
 *     {@code T(String)}, the type is {@code String}
 * @param isExact whether the value's class is this type, and not a subclass
 * @param constant the value itself, if it could be computed when the application starts
 */
record Known(
        ResolvableType type,
        boolean isExact,
        Origin origin,
        @Nullable Object constant,
        Role role) {

    /**
     * How much a value depends on the message, from least to most. The origin of {@code #a + #b} is the greater one of
     * the origins of {@code #a} and {@code #b}.
     */
    enum Origin {
        /** The value is the same for all messages. */
        CONSTANT,

        /** Many messages have the same value, such as the name of their queue. */
        SHARED,

        /** The value belongs to one message. */
        MESSAGE;

        Origin and(Origin other) {
            return compareTo(other) >= 0 ? this : other;
        }
    }

    /** Marks values that need special treatment, whatever their type. */
    enum Role {
        VALUE,
        NULL,
        /** A class, whose static members can be read. */
        CLASS,
        /** The system attributes of a receive, by name. */
        SYSTEM_ATTRIBUTES
    }

    static final Known NULL = new Known(ResolvableType.forClass(Object.class), false, Origin.CONSTANT, null, Role.NULL);

    static Known unknown(Origin origin) {
        return of(ResolvableType.forClass(Object.class), origin);
    }

    static Known of(Class<?> type, Origin origin) {
        return of(ResolvableType.forClass(type), origin);
    }

    static Known of(ResolvableType type, Origin origin) {
        return new Known(type, isFinal(type.toClass()), origin, null, Role.VALUE);
    }

    static Known constant(@Nullable Object value) {
        return value == null
                ? NULL
                : new Known(ResolvableType.forClass(value.getClass()), true, Origin.CONSTANT, value, Role.VALUE);
    }

    static Known classLiteral(Class<?> type) {
        return new Known(ResolvableType.forClass(type), true, Origin.CONSTANT, null, Role.CLASS);
    }

    /**
     * Returns whether no subclass can add methods or properties to a type. {@code Class} has no subclass, but this
     * method returns false for it. From a {@code Class} object, SpEL also reads the static members of the class for
     * which the object stands.
     */
    private static boolean isFinal(Class<?> type) {
        return type.isArray() || (Modifier.isFinal(type.getModifiers()) && type != Class.class);
    }

    /** Returns the type as a class. A primitive type becomes its wrapper class, as in SpEL. */
    Class<?> raw() {
        return ClassUtils.resolvePrimitiveIfNecessary(type.toClass());
    }

    boolean is(Class<?> superclass) {
        return role != Role.CLASS && superclass.isAssignableFrom(raw());
    }

    boolean isClass() {
        return role == Role.CLASS;
    }

    /** Returns whether the value's class is unknown. */
    boolean isUnknown() {
        return role == Role.NULL || (!isExact && raw() == Object.class);
    }

    Known from(Origin other) {
        return new Known(type, isExact, other, constant, role);
    }

    Known exactly() {
        return new Known(type, true, origin, constant, role);
    }

    Known as(Role other) {
        return new Known(type, isExact, origin, constant, other);
    }

    /** Returns what is known about a value that is read from this value, such as a property. */
    Known read(ResolvableType part) {
        return of(part, origin);
    }

    Known read(Class<?> part) {
        return of(part, origin);
    }

    Known readUnknown() {
        return unknown(origin);
    }

    /** Returns a type argument of a generic supertype. */
    Known argument(Class<?> generic, int index) {
        return read(type.as(generic).getGeneric(index));
    }

    /**
     * Returns what is known about the value inside an {@code Optional}. The operators {@code ?.} and {@code ?:} read
     * this inner value. If the type is not {@code Optional}, returns this object unchanged.
     */
    Known unwrapped() {
        return raw() == Optional.class && role == Role.VALUE ? argument(Optional.class, 0) : this;
    }

    /**
     * Combines what is known about two values, one of which is the result. For example, {@code #a ? #b : #c} has the
     * value of {@code #b} or that of {@code #c}.
     */
    Known or(Known other) {
        Origin both = origin.and(other.origin);
        if (role == Role.NULL) {
            return other.from(both);
        }
        if (other.role == Role.NULL) {
            return new Known(type, isExact, both, null, role);
        }
        return raw() == other.raw() && role == other.role
                ? new Known(type, isExact && other.isExact, both, null, role)
                : unknown(both);
    }
}
