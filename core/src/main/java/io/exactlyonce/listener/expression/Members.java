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

    /**
     * Returns the member that SpEL reads as a property of an instance: a getter, a method with the property's name, or
     * a field.
     */
    @Nullable Member property(Class<?> type, String name) {
        Method getter = findGetterForProperty(name, type, false);
        return getter != null ? getter : findField(name, type, false);
    }

    /**
     * Returns the member that SpEL reads as a property of a class object: a static member, or a property of {@code
     * Class}.
     */
    @Nullable Member staticProperty(Class<?> type, String name) {
        Method getter = findGetterForProperty(name, type, true);
        if (getter == null) {
            getter = findGetterForProperty(name, Class.class, false);
        }
        return getter != null ? getter : findField(name, type, true);
    }

    /** Returns the public methods that a call may mean, by their name and number of arguments. */
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
     * Returns the methods that a call on a class object may mean: static methods of the class, and methods of {@code
     * Class}.
     */
    List<Method> staticMethods(Class<?> type, String name, int arguments) {
        List<Method> found = methods(type, name, arguments);
        found.removeIf(method -> !Modifier.isStatic(method.getModifiers()));
        found.addAll(methods(Class.class, name, arguments));
        return found;
    }

    /** Returns the public constructors that a call may mean, by the number of arguments. */
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
     * Returns whether SpEL reads a property by the same member in each subclass. This is certain for a method whose
     * name begins with {@code get}, because SpEL prefers it to all other members.
     */
    static boolean isInherited(Member member, String property) {
        return member instanceof Method
                && member.getName().startsWith(GETTER)
                && !member.getName().equals(property);
    }

    /** Returns the type of a member's value, resolved with the type arguments of the member's owner. */
    static ResolvableType type(Member member, ResolvableType owner) {
        ResolvableType declaring = owner.as(member.getDeclaringClass());
        return member instanceof Field field
                ? ResolvableType.forField(field, declaring)
                : ResolvableType.forType(((Method) member).getGenericReturnType(), declaring);
    }
}
