package io.exactlyonce.listener.expression;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** Computes those parts of an expression that consist of constants, such as the name of a header. */
final class Constants {

    private final StandardEvaluationContext context = new StandardEvaluationContext();

    Constants(TypeLocator types) {
        context.setTypeLocator(types);
    }

    /**
     * Returns what is known about a node. If the node is constant, the result has its value.
     *
     * @param read what is known about the node without its value
     * @param target the value from which the node reads; {@code null} if there is none
     * @param parts what is known about the parts of the node
     */
    Known folded(SpelNode node, Known read, @Nullable Known target, List<Known> parts) {
        boolean isConstant = (target == null || isPlain(target.constant()))
                && parts.stream().noneMatch(part -> part.constant() == null);
        if (!isConstant || read.constant() != null) {
            return read;
        }
        ExpressionState state = new ExpressionState(context);
        if (target != null) {
            state.pushActiveContextObject(new TypedValue(target.constant()));
        }
        try {
            Object value = node.getValue(state);
            return value == null ? read : Known.constant(value);
        } catch (RuntimeException fails) {
            // The expression will fail in the same way for each message, and then report the reason.
            return read;
        }
    }

    /** Returns whether startup may call methods of a value. Methods of the application's own types are not called. */
    private static boolean isPlain(@Nullable Object target) {
        return target instanceof String
                || target instanceof Number
                || target instanceof List<?>
                || target instanceof Map<?, ?>;
    }
}
