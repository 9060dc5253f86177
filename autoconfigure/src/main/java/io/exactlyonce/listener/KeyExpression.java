package io.exactlyonce.listener;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.messaging.Message;

/** A listener's {@code key} expression, parsed and checked when the application starts. */
final class KeyExpression {

    static final String MESSAGE = "message";
    static final String HEADERS = "headers";

    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private final SpelExpression expression;
    private final Method method;

    private KeyExpression(SpelExpression expression, Method method) {
        this.expression = expression;
        this.method = method;
    }

    /**
     * Parses an expression and checks the names that it uses.
     *
     * @throws InvalidListenerException if it does not parse, or names something that the method does not have
     */
    static KeyExpression parse(String text, Method method) {
        SpelExpression parsed;
        try {
            parsed = PARSER.parseRaw(text);
        } catch (ParseException invalid) {
            throw new InvalidListenerException(
                    method,
                    "key expression '%s' does not parse: %s".formatted(text, invalid.getSimpleMessage()),
                    "write SpEL over the method's arguments, for example key = \"#order.orderId\"");
        }
        new KeyExpressionCheck(method, text, PARAMETER_NAMES.getParameterNames(method)).check(parsed.getAST());
        return new KeyExpression(parsed, method);
    }

    /** @throws EvaluationException if the expression fails on these arguments */
    @Nullable Object evaluate(@Nullable Object[] arguments, Message<?> message) {
        MethodBasedEvaluationContext context =
                new MethodBasedEvaluationContext(null, method, arguments, PARAMETER_NAMES);
        context.addPropertyAccessor(new MapAccessor());
        // Arguments by name are looked up only where no variable is set, so an argument of the same name would lose.
        if (context.lookupVariable(MESSAGE) == null) {
            context.setVariable(MESSAGE, message);
        }
        if (context.lookupVariable(HEADERS) == null) {
            context.setVariable(HEADERS, message.getHeaders());
        }
        return expression.getValue(context);
    }

    @Override
    public String toString() {
        return expression.getExpressionString();
    }
}
