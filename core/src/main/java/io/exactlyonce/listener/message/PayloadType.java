package io.exactlyonce.listener.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import tools.jackson.databind.annotation.JsonDeserialize;

/**
 * The payload type that a handler takes, with its type arguments. Spring Cloud AWS alone would ignore the type
 * arguments: an {@code Envelope<Order>} would contain a map instead of an order.
 *
 * @param full describes the type with its type arguments to Spring's converters. Absent if the class alone is enough
 */
public record PayloadType(Class<?> raw, @Nullable MethodParameter full) {

    /** Type arguments are read up to this depth. Without a limit, {@code T extends Comparable<T>} would never end. */
    private static final int MOST_LEVELS = 6;

    /** Annotations that tell Jackson which class to create for an abstract type. */
    private static final Set<String> DESERIALIZED = Set.of(
            JsonTypeInfo.class.getName(),
            JsonCreator.class.getName(),
            JsonDeserialize.class.getName(),
            "com.fasterxml.jackson.databind.annotation.JsonDeserialize");

    public PayloadType(Class<?> raw) {
        this(raw, null);
    }

    /**
     * Returns the type of the payload that a handler's parameter takes. The parameter may be the payload itself, or
     * contain it, such as a {@code Message} or a list.
     *
     * @param payload the payload's type. If the bean's class replaces a type variable {@code T} by {@code Order}, this
     *     is {@code Order}
     */
    public static PayloadType of(MethodParameter parameter, ResolvableType payload) {
        return of(parameter, payload.toClass(), exact(payload, 0));
    }

    private static PayloadType of(MethodParameter parameter, Class<?> raw, Type exact) {
        return new PayloadType(raw, saysMoreThanItsClass(exact) ? new FullType(parameter, raw, exact) : null);
    }

    /** Replaces each wildcard and each unresolved type variable by its bound, because converters cannot read them. */
    private static Type exact(ResolvableType type, int level) {
        if (type.isArray()) {
            Type component = exact(type.getComponentType(), level + 1);
            return component instanceof Class<?> exact ? exact.arrayType() : new ArrayOf(component);
        }
        Class<?> raw = type.toClass();
        ResolvableType[] arguments = arguments(type);
        if (level == MOST_LEVELS || arguments.length != raw.getTypeParameters().length) {
            return raw;
        }
        return generic(raw, Arrays.stream(arguments).map(argument -> exact(argument, level + 1)));
    }

    private static Type generic(Class<?> raw, Stream<Type> arguments) {
        ResolvableType[] resolved = arguments.map(ResolvableType::forType).toArray(ResolvableType[]::new);
        return resolved.length == 0
                ? raw
                : ResolvableType.forClassWithGenerics(raw, resolved).getType();
    }

    /**
     * Returns the type arguments, such as {@code Order} of {@code List<Order>}. A plain {@code List} has none, although
     * {@code getGenerics} returns its type variable {@code E}.
     */
    private static ResolvableType[] arguments(ResolvableType type) {
        return type.getType() instanceof Class<?> ? new ResolvableType[0] : type.getGenerics();
    }

    /**
     * Returns whether a converter must know the type arguments. For a {@code List<Object>} or a {@code Map<String,
     * Object>}, the class is enough.
     */
    private static boolean saysMoreThanItsClass(Type exact) {
        if (exact instanceof GenericArrayType array) {
            return saysMoreThanItsClass(array.getGenericComponentType());
        }
        if (!(exact instanceof ParameterizedType parameterized)) {
            return false;
        }
        boolean isMap = Map.class.isAssignableFrom((Class<?>) parameterized.getRawType());
        Type[] arguments = parameterized.getActualTypeArguments();
        return IntStream.range(0, arguments.length)
                .anyMatch(index ->
                        arguments[index] != Object.class && !(isMap && index == 0 && arguments[index] == String.class));
    }

    /** Returns whether a payload is an object of a generic class that was read without its type arguments. */
    boolean isReadAsItsClass(Object payload) {
        return raw.isInstance(payload) && payload.getClass().getTypeParameters().length > 0;
    }

    /**
     * Finds a type variable that the bean's class leaves open, such as {@code T} in {@code Handler<T>}. Returns {@code
     * null} if there is none.
     */
    public static @Nullable TypeVariable<?> unresolved(ResolvableType type) {
        return unresolved(type, 0);
    }

    private static @Nullable TypeVariable<?> unresolved(ResolvableType type, int level) {
        if (type.getType() instanceof TypeVariable<?> variable && type.resolve() == null) {
            return variable.getGenericDeclaration() instanceof Class<?> ? variable : null;
        }
        if (level == MOST_LEVELS) {
            return null;
        }
        if (type.isArray()) {
            return unresolved(type.getComponentType(), level + 1);
        }
        for (ResolvableType argument : arguments(type)) {
            TypeVariable<?> variable = unresolved(argument, level + 1);
            if (variable != null) {
                return variable;
            }
        }
        return null;
    }

    /**
     * Returns the types that a sender may name for the payload: this type and its listed subclasses. Subclasses are
     * listed by a sealed type, or in {@link JsonSubTypes}. They may list further subclasses. The map's keys are class
     * names.
     */
    public Map<String, PayloadType> permitted() {
        Map<String, PayloadType> permitted = new LinkedHashMap<>();
        permit(this, permitted);
        return permitted;
    }

    private void permit(PayloadType type, Map<String, PayloadType> permitted) {
        if (permitted.putIfAbsent(type.raw.getName(), type) == null) {
            if (type.raw.isSealed()) {
                for (Class<?> each : type.raw.getPermittedSubclasses()) {
                    permit(as(each), permitted);
                }
            }
            JsonSubTypes named = AnnotationUtils.findAnnotation(type.raw, JsonSubTypes.class);
            if (named != null) {
                for (JsonSubTypes.Type each : named.value()) {
                    permit(as(each.value()), permitted);
                }
            }
        }
    }

    /**
     * Returns the type of a subclass, with the type arguments of this type. For example, if this type is {@code
     * Event<Order>}, the subclass {@code Created<T> extends Event<T>} becomes {@code Created<Order>}.
     */
    private PayloadType as(Class<?> subclass) {
        if (full == null || subclass.getTypeParameters().length == 0) {
            return new PayloadType(subclass);
        }
        ResolvableType own = ResolvableType.forType(full.getGenericParameterType());
        ResolvableType[] passed = ResolvableType.forClass(subclass).as(raw).getGenerics();
        Stream<Type> arguments = Arrays.stream(subclass.getTypeParameters())
                .map(variable -> IntStream.range(0, passed.length)
                        .filter(index -> variable.equals(passed[index].getType()))
                        .mapToObj(index -> own.getGeneric(index).getType())
                        .findFirst()
                        .orElse(Object.class));
        return of(full, subclass, generic(subclass, arguments));
    }

    /**
     * Returns whether a sender could choose any subclass for the payload. This is so if three conditions hold:
     * <ul>
     * <li>The type is abstract, and not part of the JDK.
     * <li>The type does not list its subclasses.
     * <li>The type has no annotation that tells Jackson which class to create.
     * </ul>
     */
    public boolean isOpen() {
        return Modifier.isAbstract(raw.getModifiers())
                && !raw.isPrimitive()
                && !raw.isArray()
                && raw.getClassLoader() != null
                && permitted().size() == 1
                && Stream.concat(Stream.of(raw), Arrays.stream(raw.getDeclaredMethods()))
                        .map(MergedAnnotations::from)
                        .noneMatch(annotations -> DESERIALIZED.stream().anyMatch(annotations::isPresent));
    }

    private record ArrayOf(Type getGenericComponentType) implements GenericArrayType {}

    /**
     * Describes only the payload's type to Spring's converters. The handler's own parameter may describe too much: for
     * example a {@code Message<Order>}, although the payload is an {@code Order}.
     */
    private static final class FullType extends MethodParameter {

        private final Class<?> raw;
        private final Type type;

        FullType(MethodParameter parameter, Class<?> raw, Type type) {
            super(parameter);
            this.raw = raw;
            this.type = type;
        }

        @Override
        public Class<?> getParameterType() {
            return raw;
        }

        @Override
        public Type getGenericParameterType() {
            return type;
        }

        @Override
        public Class<?> getNestedParameterType() {
            return raw;
        }

        @Override
        public Type getNestedGenericParameterType() {
            return type;
        }

        @Override
        public MethodParameter nestedIfOptional() {
            return this;
        }

        @Override
        public FullType clone() {
            return new FullType(this, raw, type);
        }
    }
}
