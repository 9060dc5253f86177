package io.exactlyonce.listener.expression;

import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.listener.message.RedactedException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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
import org.springframework.util.StringUtils;

/**
 * A listener's {@code key} or {@code fingerprint} expression, parsed and {@linkplain ExpressionReading read} when the application
 * starts. If it fails on a message, SpEL's own errors name properties and types, and are logged; exceptions of methods and getters may
 * quote the message, and are not.
 */
public final class KeyExpression {

    private static final Logger log = LoggerFactory.getLogger(KeyExpression.class);

    private static final int MAX_REASON_LENGTH = 300;

    /**
     * Never compiles, independent of {@code spring.expression.compiler.mode}: compiled arithmetic truncates numbers of
     * another type than those before, and compiled reads of a map take an absent property for null. A key must not
     * depend on how often its expression was evaluated.
     */
    private static final SpelExpressionParser PARSER =
            new SpelExpressionParser(new SpelParserConfiguration(SpelCompilerMode.OFF, null));

    private final String attribute;
    private final SpelExpression expression;

    /** The sources of the variables, by name. */
    private final Map<String, HandlerArguments.Value> variables;

    /** The same for all messages, because they cache how to read each type's properties. */
    private final List<PropertyAccessor> properties = List.of(new MapAccessor(), new ReflectivePropertyAccessor());

    /**
     * Parses an expression and reads it.
     *
     * @param attribute of the annotation, whose expression it is
     * @param arguments what it may name
     * @throws RuntimeException of the arguments' refusal, if it does not parse, names something that the method does not have, or
     *     something that is not known when the message is polled
     */
    public KeyExpression(String attribute, String text, HandlerArguments arguments) {
        this.attribute = attribute;
        try {
            this.expression = PARSER.parseRaw(text);
        } catch (ParseException invalid) {
            throw arguments.refused(
                    "%s expression '%s' does not parse: %s".formatted(attribute, text, invalid.getSimpleMessage()),
                    "write SpEL over the method's arguments, for example %s = \"#order.orderId\"".formatted(attribute));
        }
        this.variables = ExpressionReading.variables(this, expression.getAST(), arguments);
    }

    /**
     * Returns the expression's value of a message.
     *
     * @throws InvalidKeyException if the expression fails on this message
     */
    public @Nullable Object evaluate(Message<?> message) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        context.setPropertyAccessors(properties);
        variables.forEach((name, value) -> context.setVariable(name, value.of(message)));
        try {
            return expression.getValue(context);
        } catch (RuntimeException failure) {
            log.debug("Why the {} failed", this, RedactedException.of(failure));
            throw new InvalidKeyException("The %s failed on this message: %s".formatted(this, reason(failure)));
        }
    }

    private static String reason(Throwable failure) {
        Throwable cause = Causes.root(failure);
        if (!(cause instanceof SpelEvaluationException own)) {
            return cause.getClass().getName();
        }
        return StringUtils.truncate(own.getSimpleMessage().replaceAll("\\R|\\p{Cc}", " "), MAX_REASON_LENGTH);
    }

    /** Returns the annotation's text. */
    public String text() {
        return expression.getExpressionString();
    }

    /** Asked for with each message, so not formatted. */
    @Override
    public String toString() {
        return attribute + " expression '" + text() + "'";
    }
}
