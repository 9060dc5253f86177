package io.exactlyonce.listener.expression;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;

/** Finds properties and methods of a type, in the same way as SpEL does later for each message. */
final class Members extends ReflectivePropertyAccessor {

    private static final String GETTER = "get";

    /**
     * Returns the method or field that SpEL reads for a property, such as {@code #order.id}: a getter, a method of this
     * name, or a field.
     */
    @Nullable Member property(Class<?> type, String name) {
        Method getter = findGetterForProperty(name, type, false);
        return getter != null ? getter : findField(name, type, false);
    }

    /**
     * Returns the method or field that SpEL reads for a property of a class, such as {@code T(Order).MAX}: a static
     * method or field, or a getter of {@code Class}.
     */
    @Nullable Member staticProperty(Class<?> type, String name) {
        Method getter = findGetterForProperty(name, type, true);
        if (getter == null) {
            getter = findGetterForProperty(name, Class.class, false);
        }
        return getter != null ? getter : findField(name, type, true);
    }

    /** Returns the public methods that have this name and take this number of arguments. SpEL calls one of them. */
    List<Method> methods(Class<?> type, String name, int arguments) {
        Set<Method> found = new LinkedHashSet<>();
        for (Method method : type.getMethods()) {
            if (method.getName().equals(name) && takes(method, arguments)) {
                found.add(BridgeMethodResolver.findBridgedMethod(method));
            }
        }
        return new ArrayList<>(found);
    }

    /**
     * Returns the methods that SpEL may call on a class, such as {@code T(Keys).of(#order)}: static methods of this
     * class, and methods of {@code Class}.
     */
    List<Method> staticMethods(Class<?> type, String name, int arguments) {
        List<Method> found = methods(type, name, arguments);
        found.removeIf(method -> !Modifier.isStatic(method.getModifiers()));
        found.addAll(methods(Class.class, name, arguments));
        return found;
    }

    /** Returns the public constructors that take this number of arguments. SpEL calls one of them. */
    static List<Constructor<?>> constructors(Class<?> type, int arguments) {
        return Arrays.stream(type.getConstructors())
                .filter(each -> takes(each, arguments))
                .toList();
    }

    private static boolean takes(Executable method, int arguments) {
        int parameters = method.getParameterCount();
        return method.isVarArgs() ? arguments >= parameters - 1 : arguments == parameters;
    }

    /**
     * Returns whether SpEL reads a property by the same method in all subclasses. This is certain only for a getter
     * such as {@code getId}, because SpEL prefers it to a method {@code id} and to a field.
     */
    static boolean isInherited(Member member, String property) {
        return member instanceof Method
                && member.getName().startsWith(GETTER)
                && !member.getName().equals(property);
    }

    /**
     * Returns the type of a property. If the type is a type variable such as {@code T}, the owner's type argument
     * replaces it.
     */
    static ResolvableType type(Member member, ResolvableType owner) {
        ResolvableType declaring = owner.as(member.getDeclaringClass());
        return member instanceof Field field
                ? ResolvableType.forField(field, declaring)
                : ResolvableType.forType(((Method) member).getGenericReturnType(), declaring);
    }
}
