package io.exactlyonce.listener.expression;

import io.exactlyonce.listener.expression.Known.Origin;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.OpDivide;
import org.springframework.expression.spel.ast.OpMinus;
import org.springframework.expression.spel.ast.OpModulus;
import org.springframework.expression.spel.ast.OpMultiply;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.OperatorPower;

/** Finds the types of the results of arithmetic, concatenation and comparisons. */
final class Operators {

    /**
     * Methods that may compute as many digits as a sender likes. A sender can write {@code 1e30000000}, which has ten
     * characters, but stands for 30 million digits.
     */
    private static final Map<Class<?>, Set<String>> UNBOUNDED = Map.of(
            BigDecimal.class,
                    Set.of(
                            "add",
                            "subtract",
                            "divide",
                            "divideToIntegralValue",
                            "divideAndRemainder",
                            "remainder",
                            "pow",
                            "sqrt",
                            "setScale",
                            "toBigInteger",
                            "toBigIntegerExact",
                            "toPlainString"),
            BigInteger.class, Set.of("pow", "shiftLeft", "setBit"));

    private static final String DIGITS = "%s of a %s, which takes minutes and all memory if a sender writes 1e30000000";

    private static final String NUMBER_ITSELF =
            "name the number itself, or call a bean that limits its exponent first, such as @keys.of(#order)";

    private final Texts texts;
    private final Refusal refusal;

    Operators(Texts texts, Refusal refusal) {
        this.texts = texts;
        this.refusal = refusal;
    }

    /**
     * Returns what is known about the result of an operator.
     *
     * @throws RuntimeException if the operator cannot take its operands. The exception names the listener
     */
    Known result(SpelNode operator, List<Known> operands, Origin origin) {
        if (!isArithmetic(operator)) {
            return Known.of(Boolean.class, origin);
        }
        Known left = operands.get(0);
        if (operands.size() == 1) {
            requireFit(canBeNumber(left), operator, operands);
            return left.from(origin);
        }
        Known right = operands.get(1);
        boolean canBeNumber = canBeNumber(left) && canBeNumber(right);
        if (operator instanceof OpPlus) {
            return sum(operator, operands, canBeNumber, origin);
        }
        boolean isOfText = canBeText(left) && right.raw().isAssignableFrom(Integer.class);
        requireFit(canBeNumber || isOfText, operator, operands);
        if (isOfText) {
            return left.is(String.class) ? Known.of(String.class, origin) : Known.unknown(origin);
        }
        return number(operator, left, right, origin);
    }

    private static boolean isArithmetic(SpelNode operator) {
        return operator instanceof OpPlus
                || operator instanceof OpMinus
                || operator instanceof OpMultiply
                || operator instanceof OpDivide
                || operator instanceof OpModulus
                || operator instanceof OperatorPower;
    }

    private Known sum(SpelNode operator, List<Known> operands, boolean canBeNumber, Origin origin) {
        Known left = operands.get(0);
        Known right = operands.get(1);
        if (canBeText(left)) {
            texts.requireText(right);
        }
        if (canBeText(right)) {
            texts.requireText(left);
        }
        if (left.is(String.class) || right.is(String.class)) {
            return Known.of(String.class, origin);
        }
        boolean canBeText = canBeText(left) || canBeText(right);
        requireFit(canBeNumber || canBeText, operator, operands);
        return canBeText ? Known.unknown(origin) : number(operator, left, right, origin);
    }

    /** @throws RuntimeException if a sender can choose how many digits the method computes */
    static void requireBounded(Method called, Refusal refusal) {
        Class<?> type = called.getDeclaringClass();
        if (UNBOUNDED.getOrDefault(type, Set.of()).contains(called.getName())) {
            throw refusal.of(DIGITS.formatted("calls " + called.getName() + "()", type.getSimpleName()), NUMBER_ITSELF);
        }
    }

    /**
     * Rejects an operator if a sender can choose how many digits its result has. A product is permitted, because it has
     * no more digits than both factors together.
     */
    private void requireBounded(SpelNode operator, Known left, Known right) {
        boolean isDecimal = left.is(BigDecimal.class) || right.is(BigDecimal.class);
        boolean isPower = operator instanceof OperatorPower && left.is(BigInteger.class);
        if (isPower || (isDecimal && !(operator instanceof OpMultiply))) {
            Class<?> type = isDecimal ? BigDecimal.class : BigInteger.class;
            throw refusal.of(
                    DIGITS.formatted("computes " + operator.toStringAST(), type.getSimpleName()), NUMBER_ITSELF);
        }
    }

    private Known number(SpelNode operator, Known left, Known right, Origin origin) {
        requireBounded(operator, left, right);
        boolean areKnown = left.isExact() && right.isExact();
        boolean isDecimal = left.is(BigDecimal.class)
                || (operator instanceof OperatorPower ? left.is(BigInteger.class) : right.is(BigDecimal.class));
        boolean isFloating = isFloating(left) || isFloating(right);
        return Known.of(areKnown && isFloating && !isDecimal ? Double.class : Number.class, origin);
    }

    private static boolean isFloating(Known value) {
        return value.is(Double.class) || value.is(Float.class);
    }

    /**
     * Returns whether a value can be a number. This is also possible if its type is {@code Object} or an interface.
     */
    private static boolean canBeNumber(Known value) {
        Class<?> type = value.raw();
        return value.role() != Known.Role.NULL
                && (value.is(Number.class) || (!value.isExact() && (type.isInterface() || type == Object.class)));
    }

    private static boolean canBeText(Known value) {
        return value.role() != Known.Role.NULL && value.raw().isAssignableFrom(String.class);
    }

    private void requireFit(boolean isFit, SpelNode operator, List<Known> operands) {
        if (!isFit) {
            throw refusal.of(
                    "computes %s of %s".formatted(operator.toStringAST(), types(operands)),
                    "name properties that have a text or a number");
        }
    }

    private static String types(List<Known> operands) {
        return String.join(
                " and ",
                operands.stream()
                        .map(each -> each.role() == Known.Role.NULL
                                ? "null"
                                : each.raw().getName())
                        .toList());
    }
}
