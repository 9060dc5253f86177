package io.exactlyonce.listener.expression;

import java.lang.reflect.Modifier;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * A value in an expression, as far as it is known when the application starts. Even if its type is known, the value may
 * be {@code null} for a message.
 *
 * @param type the value's class, or a superclass or an interface of this class; {@code Object} if nothing is known. For
 *     a class literal, such as {@code T(String)}, the class that the literal names
 * @param isExact whether the value's class is exactly this type, and no subclass
 * @param constant the value itself, if startup has computed it
 */
record Known(
        ResolvableType type,
        boolean isExact,
        Origin origin,
        @Nullable Object constant,
        Role role) {

    /**
     * How a value depends on the message. The constants are ordered by how much it depends: a value that is made of two
     * others depends on the message as much as the more dependent of the two.
     */
    enum Origin {
        /** The value is the same for all messages. */
        CONSTANT,

        /** The value is the same for many messages, such as the name of their queue. */
        SHARED,

        /** The value belongs to one message. */
        MESSAGE;

        Origin and(Origin other) {
            return compareTo(other) >= 0 ? this : other;
        }
    }

    /** A special meaning of a value, beyond its type. */
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
     * Returns whether the members of a type are certain, because no subclass can add any. All array types have the same
     * members, so they are certain. The members of {@code Class} are not certain, because SpEL also reads the static
     * members of the class that a class object represents.
     */
    private static boolean isFinal(Class<?> type) {
        return type.isArray() || (Modifier.isFinal(type.getModifiers()) && type != Class.class);
    }

    /** Returns the known type as a class. For a primitive type, returns the wrapper class, as SpEL does. */
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

    /** Returns what is known about a part that is read from this value. */
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
     * Returns what is known about the value inside an {@code Optional}, because {@code ?.} and {@code ?:} read that
     * value. Returns any other value unchanged.
     */
    Known unwrapped() {
        return raw() == Optional.class && role == Role.VALUE ? argument(Optional.class, 0) : this;
    }

    /** Returns what is known about a value that is either this value or another one. */
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
