package io.exactlyonce.listener.expression;

import io.exactlyonce.MissingKeyException;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.RedactedException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.messaging.Message;
import org.springframework.util.StringUtils;

/**
 * A listener's {@code key} or {@code fingerprint} expression. It is parsed and {@linkplain ExpressionReading checked}
 * when the application starts, and evaluated for each message.
 *
 * <p>If the expression fails on a message, the reason must not contain content of the message. So SpEL's error text is
 * reported only if it consists of names and types. Otherwise only SpEL's error code is reported. If a method or getter
 * has thrown an exception, the exception's class is reported.
 */
public final class KeyExpression {

    private static final Logger log = LoggerFactory.getLogger(KeyExpression.class);

    private static final int MAX_REASON_LENGTH = 300;

    /**
     * SpEL's errors whose texts are safe to report: they consist of numbers, names of types, and names in the
     * expression. The texts of other errors may quote a message's content.
     */
    private static final Set<SpelMessage> WITHOUT_VALUES = EnumSet.of(
            SpelMessage.TYPE_CONVERSION_ERROR,
            SpelMessage.CONSTRUCTOR_NOT_FOUND,
            SpelMessage.METHOD_NOT_FOUND,
            SpelMessage.TYPE_NOT_FOUND,
            SpelMessage.FUNCTION_NOT_DEFINED,
            SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
            SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE,
            SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED,
            SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE,
            SpelMessage.ARRAY_INDEX_OUT_OF_BOUNDS,
            SpelMessage.COLLECTION_INDEX_OUT_OF_BOUNDS,
            SpelMessage.STRING_INDEX_OUT_OF_BOUNDS,
            SpelMessage.INDEXING_NOT_SUPPORTED_FOR_TYPE,
            SpelMessage.OPERATOR_NOT_SUPPORTED_BETWEEN_TYPES);

    private static final Set<SpelMessage> READS_OF_NULL = EnumSet.of(
            SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
            SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED,
            SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

    /**
     * A parser that never compiles expressions, even if {@code spring.expression.compiler.mode} demands it. SpEL would
     * compile an expression after some messages, and the compiled expression may have other results. For example, it
     * truncates some numbers, and returns null for an absent property of a map. So the same message could get another
     * key.
     */
    static final SpelExpressionParser PARSER =
            new SpelExpressionParser(new SpelParserConfiguration(SpelCompilerMode.OFF, null));

    private final Purpose purpose;
    private final SpelExpression expression;
    private final TypeLocator types;
    private final BeanResolver beans;

    /** Maps the name of each variable to a function that makes the variable's value. */
    private final Map<String, Argument.Value> variables;

    private final boolean readsHeaders;

    /** All messages share the accessors, because an accessor caches how to read the properties of each type. */
    private final List<PropertyAccessor> properties = List.of(new MapAccessor(), new ReflectivePropertyAccessor());

    /**
     * Parses and checks an expression.
     *
     * @param arguments the variables that the expression may name
     * @param beans the beans that the expression may name
     * @throws RuntimeException if the expression does not parse, or if no message could have a usable key or
     *     fingerprint. The exception names the listener
     */
    public KeyExpression(Purpose purpose, String text, HandlerArguments arguments, BeanFactory beans) {
        this.purpose = purpose;
        this.expression = parse(purpose, text, arguments);
        // The listener's class loader is used to find classes, because the calling thread's class loader may not know
        // them.
        this.types = new StandardTypeLocator(arguments.classLoader());
        this.beans = new BeanFactoryResolver(beans);
        ExpressionReading reading = new ExpressionReading(this, purpose, arguments, types, beans);
        this.variables = reading.read(expression.getAST());
        this.readsHeaders = reading.readsHeaders();
    }

    private static SpelExpression parse(Purpose purpose, String text, HandlerArguments arguments) {
        try {
            return PARSER.parseRaw(text);
        } catch (ExpressionException | IllegalArgumentException | IllegalStateException invalid) {
            throw arguments.refused(
                    "%s expression '%s' does not parse: %s"
                            .formatted(
                                    purpose,
                                    text,
                                    invalid instanceof ExpressionException own
                                            ? own.getSimpleMessage()
                                            : invalid.getMessage()),
                    "write SpEL over the method's arguments, for example %s = \"#order.orderId\"".formatted(purpose));
        }
    }

    /**
     * Returns the expression's value for a message.
     *
     * @throws MissingKeyException if a key expression reads something that the message does not have
     * @throws UnusableKeyException if the expression fails on this message for another reason
     */
    public @Nullable Object evaluate(Message<?> message) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        context.setPropertyAccessors(properties);
        context.setTypeLocator(types);
        context.setBeanResolver(beans);
        variables.forEach((name, value) -> context.setVariable(name, value.of(message)));
        try {
            return expression.getValue(context);
        } catch (RuntimeException failure) {
            log.debug("Why the {} failed", this, RedactedException.of(failure));
            String problem = "The %s failed on this message: %s".formatted(this, reason(failure));
            throw purpose == Purpose.KEY && readsNothing(failure)
                    ? new MissingKeyException(problem)
                    : new UnusableKeyException(problem);
        }
    }

    /** Returns whether the expression failed because it reads something that the message does not have. */
    private boolean readsNothing(Throwable failure) {
        return Causes.root(failure) instanceof SpelEvaluationException own
                && (READS_OF_NULL.contains(own.getMessageCode()) || isReadOfAnAbsentEntry(own));
    }

    /**
     * Returns whether the expression failed because a map does not have an entry. SpEL then reports that a property is
     * not readable, and names the map's class.
     */
    private boolean isReadOfAnAbsentEntry(SpelEvaluationException own) {
        Object[] nameAndClass = own.getInserts();
        if (own.getMessageCode() != SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE || nameAndClass == null) {
            return false;
        }
        try {
            return Map.class.isAssignableFrom(types.findType(String.valueOf(nameAndClass[1])));
        } catch (EvaluationException unknown) {
            return false;
        }
    }

    /** Returns why an expression failed, without content of the message. */
    private static String reason(Throwable failure) {
        Throwable cause = Causes.root(failure);
        if (!(cause instanceof SpelEvaluationException own)) {
            return cause.getClass().getName();
        }
        if (!WITHOUT_VALUES.contains(own.getMessageCode())) {
            return "%s at position %d".formatted(own.getMessageCode(), own.getPosition());
        }
        String message = own.getSimpleMessage();
        return StringUtils.truncate(OneLine.of(message, message.length()), MAX_REASON_LENGTH);
    }

    /** Returns whether the expression may read headers. If so, all attributes of messages must be received. */
    public boolean readsHeaders() {
        return readsHeaders;
    }

    /** Returns the annotation's text. */
    public String text() {
        return expression.getExpressionString();
    }

    /**
     * Returns a text such as {@code key expression '#order.id'}. This method is called for each message, so it avoids
     * formatting, which is slow.
     */
    @Override
    public String toString() {
        return purpose + " expression '" + text() + "'";
    }
}
