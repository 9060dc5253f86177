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
 * The type of the payloads that a handler takes. Spring Cloud AWS reads a payload as a class only. A converter then
 * makes maps of the types that the class's type arguments name.
 *
 * @param raw the class
 * @param full the full type, as the hint that Spring's converters read it from; none if the class alone says as
 *     much
 */
public record PayloadType(Class<?> raw, @Nullable MethodParameter full) {

    /** Bounds type variables whose bounds contain them. */
    private static final int MOST_LEVELS = 6;

    /** Annotations with which an abstract type defines how to make an object of JSON. */
    private static final Set<String> DESERIALIZED = Set.of(
            JsonTypeInfo.class.getName(),
            JsonCreator.class.getName(),
            JsonDeserialize.class.getName(),
            "com.fasterxml.jackson.databind.annotation.JsonDeserialize");

    /** Makes the type of a class without type arguments. */
    public PayloadType(Class<?> raw) {
        this(raw, null);
    }

    /**
     * Returns the type of a payload that a handler's parameter takes, or carries in an {@code Optional}, a {@code
     * Message} or a list.
     *
     * @param payload as the parameter declares it, resolved by the bean's class
     */
    public static PayloadType of(MethodParameter parameter, ResolvableType payload) {
        return of(parameter, payload.toClass(), exact(payload, 0));
    }

    private static PayloadType of(MethodParameter parameter, Class<?> raw, Type exact) {
        return new PayloadType(raw, saysMoreThanItsClass(exact) ? new FullType(parameter, raw, exact) : null);
    }

    /**
     * Returns a type that has only classes and their type arguments. A wildcard or an unresolved variable is replaced
     * by its bound.
     */
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
     * Returns the type arguments; none for a class that is used without them, because its own variables resolve to
     * nothing.
     */
    private static ResolvableType[] arguments(ResolvableType type) {
        return type.getType() instanceof Class<?> ? new ResolvableType[0] : type.getGenerics();
    }

    /**
     * Returns whether the type is more exact than its class. A converter reads {@code Object} as a map, list, text or
     * number, so a type argument {@code Object} adds nothing.
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

    /** Returns whether a payload was read as the class, without type arguments. */
    boolean isReadAsItsClass(Object payload) {
        return raw.isInstance(payload) && payload.getClass().getTypeParameters().length > 0;
    }

    /**
     * Returns a type variable of a handler's class that nothing resolves or bounds; {@code null} if the type has none.
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
     * Returns the types that a sender may name instead of this one, by name: this type, and the types that it permits
     * as a sealed type or in {@link JsonSubTypes}.
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

    /** Returns a subclass, with the type arguments that it passes on to this type. */
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
     * Returns whether a sender could choose the payload's class among all classes: the type is abstract, permits no
     * types, and does not say how JSON becomes one of them.
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
     * Stands for a parameter that takes the payload alone, with its full type. The actual parameter may take the
     * payload within another type.
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
