package io.exactlyonce.listener.method;

import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.FailureOutline;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.expression.ParseException;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.messaging.Message;

/**
 * A listener's {@code key} expression, parsed and checked when the application starts. When it fails on a message, what SpEL
 * itself finds names properties and types, and is logged; what a method or a getter throws may quote the message, and is not.
 */
final class KeyExpression {

    private static final Logger log = LoggerFactory.getLogger(KeyExpression.class);

    static final String MESSAGE = "message";
    static final String HEADERS = "headers";
    static final String PAYLOAD = "payload";

    private static final int MAX_REASON_LENGTH = 300;

    /**
     * Never compiles, whatever {@code spring.expression.compiler.mode} says: compiled arithmetic truncates numbers of another
     * type than those before, and compiled reads of a map take an absent property for null. A key must not depend on how
     * often its expression was evaluated.
     */
    private static final SpelExpressionParser PARSER =
            new SpelExpressionParser(new SpelParserConfiguration(SpelCompilerMode.OFF, null));

    private final SpelExpression expression;

    /** What it reads, by name. */
    private final Map<String, KeyArguments.Value> variables;

    /** One for all messages, for they remember how to read each type's properties. */
    private final List<PropertyAccessor> properties = List.of(new MapAccessor(), new ReflectivePropertyAccessor());

    private KeyExpression(SpelExpression expression, Map<String, KeyArguments.Value> variables) {
        this.expression = expression;
        this.variables = variables;
    }

    /**
     * Parses an expression and checks the names that it uses.
     *
     * @throws InvalidListenerException if it does not parse, names something that the method does not have, or something that is
     *     not known when the message is polled
     */
    static KeyExpression parse(String text, KeyArguments arguments) {
        SpelExpression parsed;
        try {
            parsed = PARSER.parseRaw(text);
        } catch (ParseException invalid) {
            throw new InvalidListenerException(
                    arguments.method(),
                    "key expression '%s' does not parse: %s".formatted(text, invalid.getSimpleMessage()),
                    "write SpEL over the method's arguments, for example key = \"#order.orderId\"");
        }
        return new KeyExpression(
                parsed, KeyExpressionValidator.of(text, arguments).check(parsed.getAST()));
    }

    /** @throws InvalidKeyException if the expression fails on this message */
    @Nullable Object evaluate(Message<?> message) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        context.setPropertyAccessors(properties);
        variables.forEach((name, value) -> context.setVariable(name, value.of(message)));
        try {
            return expression.getValue(context);
        } catch (RuntimeException failure) {
            // Methods of the expression may throw anything, as for a value that a sender has made up, or have no class.
            throw failedBy(failure);
        }
    }

    private InvalidKeyException failedBy(Throwable failure) {
        if (log.isDebugEnabled()) {
            log.debug("Why the key expression '{}' failed", this, FailureOutline.of(failure));
        }
        return new InvalidKeyException(
                "The key expression '%s' failed on this message: %s".formatted(this, reason(failure)));
    }

    private static String reason(Throwable failure) {
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
        if (!(cause instanceof SpelEvaluationException own)) {
            return cause.getClass().getName();
        }
        String text = own.getSimpleMessage().replaceAll("\\R|\\p{Cc}", " ");
        return text.length() > MAX_REASON_LENGTH ? text.substring(0, MAX_REASON_LENGTH) : text;
    }

    /** Says why a delivery is not handled: it is returned with backoff, like one that was refused for its claim. */
    static void logUnusable(Delivery delivery, InvalidKeyException unusable) {
        log.error(
                "{} is returned, and ends in the dead-letter queue if there is one: {}",
                delivery,
                unusable.getMessage());
    }

    @Override
    public String toString() {
        return expression.getExpressionString();
    }
}
