package io.exactlyonce.listener.expression;

import java.util.LinkedHashSet;
import java.util.Set;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.TypeReference;

/**
 * The beans and classes that an expression names.
 *
 * @param beans the names of beans
 * @param types the names of classes, as they are spelled in the expression
 */
public record ExpressionReferences(Set<String> beans, Set<String> types) {

    /**
     * Parses an expression.
     *
     * @throws RuntimeException if the expression does not parse
     */
    public static ExpressionReferences of(String text) {
        ExpressionReferences found = new ExpressionReferences(new LinkedHashSet<>(), new LinkedHashSet<>());
        found.add(KeyExpression.PARSER.parseRaw(text).getAST());
        return found;
    }

    private void add(SpelNode node) {
        if (node instanceof BeanReference bean) {
            beans.add(bean.getName());
        }
        if (node instanceof TypeReference || node instanceof ConstructorReference) {
            types.add(node.getChild(0).toStringAST());
        }
        for (int child = 0; child < node.getChildCount(); child++) {
            add(node.getChild(child));
        }
    }
}
