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

/** Finds a type's properties and methods as SpEL does when it evaluates an expression. */
final class Members extends ReflectivePropertyAccessor {

    private static final String GETTER = "get";

    /** Returns what SpEL reads as a property of an instance: a getter, a method of that name, or a field. */
    @Nullable Member property(Class<?> type, String name) {
        Method getter = findGetterForProperty(name, type, false);
        return getter != null ? getter : findField(name, type, false);
    }

    /** Returns what SpEL reads as a property of a class: a static member, or a property of {@code Class}. */
    @Nullable Member staticProperty(Class<?> type, String name) {
        Method getter = findGetterForProperty(name, type, true);
        if (getter == null) {
            getter = findGetterForProperty(name, Class.class, false);
        }
        return getter != null ? getter : findField(name, type, true);
    }

    /** Returns the public methods that a call may mean. */
    List<Method> methods(Class<?> type, String name, int arguments) {
        Set<Method> found = new LinkedHashSet<>();
        for (Method method : type.getMethods()) {
            if (method.getName().equals(name) && takes(method, arguments)) {
                found.add(BridgeMethodResolver.findBridgedMethod(method));
            }
        }
        return new ArrayList<>(found);
    }

    /** Returns the methods that a call on a class may mean: static ones, and those of {@code Class}. */
    List<Method> staticMethods(Class<?> type, String name, int arguments) {
        List<Method> found = methods(type, name, arguments);
        found.removeIf(method -> !Modifier.isStatic(method.getModifiers()));
        found.addAll(methods(Class.class, name, arguments));
        return found;
    }

    /** Returns the public constructors that a call may mean. */
    static List<Constructor<?>> constructors(Class<?> type, int arguments) {
        return Arrays.stream(type.getConstructors())
                .filter(each -> takes(each, arguments))
                .toList();
    }

    private static boolean takes(Executable method, int arguments) {
        int parameters = method.getParameterCount();
        return method.isVarArgs() ? arguments >= parameters - 1 : arguments == parameters;
    }

    /** Returns whether SpEL finds the same member in each subclass: it prefers a getter to all others. */
    static boolean isInherited(Member member, String property) {
        return member instanceof Method
                && member.getName().startsWith(GETTER)
                && !member.getName().equals(property);
    }

    /** Returns the type of a member's value, with its owner's type arguments. */
    static ResolvableType type(Member member, ResolvableType owner) {
        ResolvableType declaring = owner.as(member.getDeclaringClass());
        return member instanceof Field field
                ? ResolvableType.forField(field, declaring)
                : ResolvableType.forType(((Method) member).getGenericReturnType(), declaring);
    }
}
