package io.exactlyonce.listener.expression;

import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.exactlyonce.listener.expression.Known.Origin;
import java.lang.reflect.Constructor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * Reads the beginnings of chains: variables such as {@code #order}, beans, classes and new objects. A chain cannot
 * begin with a property. SpEL would read it from a root object, and there is none.
 */
final class Sources {

    private final KeyExpression expression;
    private final Members members;
    private final FrameworkHeaders headers;
    private final TypeLocator types;
    private final BeanFactory beans;
    private final HandlerArguments arguments;
    private final Refusal refusal;
    private final Map<String, Argument.Value> variables = new HashMap<>();
    private boolean readsHeaders;

    Sources(
            KeyExpression expression,
            Members members,
            FrameworkHeaders headers,
            TypeLocator types,
            BeanFactory beans,
            HandlerArguments arguments,
            Refusal refusal) {
        this.expression = expression;
        this.members = members;
        this.headers = headers;
        this.types = types;
        this.beans = beans;
        this.arguments = arguments;
        this.refusal = refusal;
    }

    /**
     * Returns a map from the name of each variable in the expression to a function that makes the variable's value.
     */
    Map<String, Argument.Value> variables() {
        return Map.copyOf(variables);
    }

    /**
     * Returns whether the expression may read headers: it has a variable for a header, or a variable such as
     * {@code #message} or {@code #headers}.
     */
    boolean readsHeaders() {
        return readsHeaders;
    }

    /** @param active the value of {@code #this} inside a selection or projection; {@code null} elsewhere */
    Known variable(VariableReference variable, @Nullable Known active) {
        String name = variable.toStringAST().substring(1);
        if (name.equals("this") && active != null) {
            return active;
        }
        if (name.equals("this") || name.equals("root")) {
            throw rootless(variable);
        }
        Argument argument = arguments.argument(name, expression);
        variables.put(name, argument.value());
        Known known = Known.of(argument.type(), Origin.MESSAGE);
        readsHeaders |= argument.header() != null || MessageParts.hasHeaders(known);
        if (argument.header() != null) {
            return known.from(headers.header(argument.header()).origin());
        }
        return known.is(QueueAttributes.class) ? known.from(Origin.SHARED) : known;
    }

    Known type(TypeReference reference) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        context.setTypeLocator(types);
        try {
            return reference.getValueInternal(new ExpressionState(context)).getValue() instanceof Class<?> type
                    ? Known.classLiteral(type)
                    : Known.unknown(Origin.CONSTANT);
        } catch (EvaluationException | IllegalArgumentException absent) {
            throw unknownType(reference.getChild(0).toStringAST());
        }
    }

    private RuntimeException unknownType(String name) {
        return refusal.of(
                "names the class '%s', which does not exist".formatted(name),
                "write the class's full name, and $ before the name of a nested class");
    }

    /**
     * Returns what is known about a bean. If the bean does not exist yet, only its declared type is known, and its
     * class may be a subclass of that type.
     */
    Known bean(String name) {
        if (!beans.containsBean(name)) {
            throw refusal.of(
                    "names the bean '@%s', which does not exist".formatted(name),
                    "declare a bean of this name, or correct the name");
        }
        Class<?> type = beans.getType(name, false);
        if (type == null) {
            return Known.unknown(Origin.CONSTANT);
        }
        Known bean = Known.of(type, Origin.CONSTANT);
        boolean isMade = beans instanceof ConfigurableBeanFactory made
                && made.containsSingleton(name)
                && !made.isFactoryBean(name);
        return isMade ? bean.exactly() : bean;
    }

    Known constructor(SpelNode node, List<Known> given) {
        String name = node.getChild(0).toStringAST();
        Class<?> type;
        try {
            type = types.findType(name);
        } catch (EvaluationException absent) {
            throw unknownType(name);
        }
        Origin origin = given.stream().map(Known::origin).reduce(Origin.CONSTANT, Origin::and);
        if (node.toStringAST().startsWith("new " + name + "[")) {
            return Known.of(ResolvableType.forArrayComponent(ResolvableType.forClass(type)), origin);
        }
        List<Constructor<?>> fit = Members.constructors(type, given.size());
        if (fit.isEmpty()) {
            throw refusal.of(
                    "calls a constructor of %s with %d arguments, which does not exist"
                            .formatted(type.getName(), given.size()),
                    "call a public constructor");
        }
        fit.forEach(constructor -> Unrepeatable.refuse(constructor, refusal));
        return Known.of(type, origin).exactly();
    }

    RuntimeException function(SpelNode node) {
        String call = node.toStringAST().substring(1);
        return refusal.of(
                "calls the function '#%s', and there are no functions".formatted(call),
                "call a static method, such as T(com.acme.Keys).%s, or a bean's, such as @keys.%s"
                        .formatted(call, call));
    }

    /**
     * Returns the exception for a name without a variable, such as {@code orderId} instead of {@code #order.orderId}.
     * SpEL would read the name from a root object, and there is none.
     */
    RuntimeException rootless(SpelNode node) {
        if (node instanceof PropertyOrFieldReference property) {
            String name = property.getName();
            return refusal.of(
                    "names '%s' without an argument".formatted(name),
                    "write #" + (arguments.names().contains(name) ? name : owner(name, -1) + "." + name));
        }
        if (node instanceof MethodReference method) {
            return refusal.of(
                    "calls '%s' without an argument".formatted(method.toStringAST()),
                    "write #%s.%s".formatted(owner(method.getName(), method.getChildCount()), method.toStringAST()));
        }
        return refusal.of(
                "reads '%s' without an argument".formatted(node.toStringAST()),
                "begin with one of #" + String.join(", #", arguments.names()));
    }

    /**
     * Returns the variable to suggest in an error text: the first whose type has the method or property {@code member}.
     * If there is none, returns the first variable.
     *
     * @param given the number of arguments in the call of the method; -1 for a property
     */
    private String owner(String member, int given) {
        Map<String, ResolvableType> owners = arguments.owners();
        return owners.entrySet().stream()
                .filter(owner -> has(owner.getValue().toClass(), member, given))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseGet(owners.keySet().iterator()::next);
    }

    private boolean has(Class<?> type, String member, int given) {
        return given < 0
                ? members.property(type, member) != null
                : !members.methods(type, member, given).isEmpty();
    }
}
