package io.exactlyonce.listener.expression;

import io.exactlyonce.listener.expression.Known.Origin;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;

/**
 * Checks a key or fingerprint expression when the application starts. If no message could have a usable result, or if
 * all messages would have the same one, startup fails. If the result's class is not certain, for example because a type
 * may have subclasses, the result is checked for each message instead.
 */
final class ExpressionReading {

    private final Refusal refusal;
    private final Sources sources;
    private final ChainReading links;
    private final Operators operators;
    private final ResultRules results;
    private final Constants constants;

    ExpressionReading(
            KeyExpression expression,
            Purpose purpose,
            HandlerArguments arguments,
            TypeLocator types,
            BeanFactory beans) {
        this.refusal = (problem, remedy) -> arguments.refused(expression + " " + problem, remedy);
        FrameworkHeaders headers = new FrameworkHeaders(refusal);
        MessageParts parts = new MessageParts(headers, refusal);
        Texts texts = new Texts(parts, refusal);
        Members members = new Members();
        this.links = new ChainReading(members, parts, texts, refusal);
        this.sources = new Sources(expression, members, headers, types, beans, arguments, refusal);
        this.operators = new Operators(texts, refusal);
        this.results = new ResultRules(purpose, refusal);
        this.constants = new Constants(types);
    }

    /** Reads the whole expression. Returns a map from the name of each variable to a function that makes its value. */
    Map<String, Argument.Value> read(SpelNode root) {
        results.requireOwn(result(root));
        return sources.variables();
    }

    /** Returns whether the expression may read headers. Must be called after {@link #read}. */
    boolean readsHeaders() {
        return sources.readsHeaders();
    }

    /**
     * Reads a part of the expression that may become the key or fingerprint. If the part has branches, such as {@code
     * #a ? #b : #c}, each branch must be usable.
     */
    private Known result(SpelNode node) {
        if (node instanceof Ternary) {
            return chosen(read(node.getChild(0), null), result(node.getChild(1)), result(node.getChild(2)));
        }
        if (node instanceof Elvis) {
            Known first = read(node.getChild(0), null).unwrapped();
            results.require(node.getChild(0), first);
            return present(first, result(node.getChild(1)));
        }
        if (node instanceof InlineList && results.takesLists()) {
            List<Known> entries = new ArrayList<>();
            for (int entry = 0; entry < node.getChildCount(); entry++) {
                entries.add(result(node.getChild(entry)));
            }
            return list(origin(entries));
        }
        Known read = read(node, null);
        results.require(node, read);
        return read;
    }

    private static Known chosen(Known condition, Known first, Known second) {
        return condition.constant() instanceof Boolean isFirst
                ? (isFirst ? first : second)
                : first.or(second).from(first.origin().and(second.origin()).and(condition.origin()));
    }

    private static Known present(Known first, Known otherwise) {
        return first.constant() == null || first.constant().equals("") ? first.or(otherwise) : first;
    }

    /**
     * Reads a part of the expression.
     *
     * @param scope the item of the selection or projection around this part; {@code null} if there is none. Names
     *     without {@code #} are properties of this item
     */
    private Known read(SpelNode node, @Nullable Known scope) {
        if (node instanceof CompoundExpression) {
            Known value = read(node.getChild(0), scope);
            for (int link = 1; link < node.getChildCount(); link++) {
                value = link(node.getChild(link), value, scope);
            }
            return value;
        }
        if (isLink(node)) {
            return link(node, scope, scope);
        }
        if (node instanceof VariableReference variable) {
            return sources.variable(variable, scope);
        }
        if (node instanceof Literal literal) {
            return Known.constant(literal.getLiteralValue().getValue());
        }
        if (node instanceof Assign || node instanceof OpInc || node instanceof OpDec) {
            throw refusal.of(
                    "changes '%s'".formatted(node.getChild(0).toStringAST()),
                    "read the message only, as the handler gets it afterwards");
        }
        if (node instanceof TypeReference type) {
            return sources.type(type);
        }
        if (node instanceof BeanReference bean) {
            return sources.bean(bean.getName());
        }
        return combined(node, scope);
    }

    private static boolean isLink(SpelNode node) {
        return node instanceof PropertyOrFieldReference
                || node instanceof MethodReference
                || node instanceof Indexer
                || node instanceof Selection
                || node instanceof Projection;
    }

    private Known combined(SpelNode node, @Nullable Known scope) {
        if (node instanceof FunctionReference) {
            throw sources.function(node);
        }
        if (node instanceof ConstructorReference) {
            return sources.constructor(node, readAll(node, 1, scope));
        }
        if (node instanceof InlineMap) {
            return map(node, scope);
        }
        List<Known> parts = readAll(node, 0, scope);
        if (node instanceof Ternary) {
            return chosen(parts.get(0), parts.get(1), parts.get(2));
        }
        if (node instanceof Elvis) {
            return present(parts.get(0).unwrapped(), parts.get(1));
        }
        Known combined =
                node instanceof InlineList ? list(origin(parts)) : operators.result(node, parts, origin(parts));
        return constants.folded(node, combined, null, parts);
    }

    private List<Known> readAll(SpelNode node, int first, @Nullable Known scope) {
        List<Known> parts = new ArrayList<>();
        for (int child = first; child < node.getChildCount(); child++) {
            parts.add(read(node.getChild(child), scope));
        }
        return parts;
    }

    private static Origin origin(List<Known> parts) {
        return parts.stream().map(Known::origin).reduce(Origin.CONSTANT, Origin::and);
    }

    private static Known list(Origin origin) {
        return Known.of(List.class, origin);
    }

    /** Reads a map, such as <code>{id: #order}</code>. A key without quotes, such as {@code id}, is text. */
    private Known map(SpelNode node, @Nullable Known scope) {
        List<Known> parts = new ArrayList<>();
        for (int child = 0; child < node.getChildCount(); child++) {
            SpelNode part = node.getChild(child);
            parts.add(
                    child % 2 == 0 && part instanceof PropertyOrFieldReference name
                            ? Known.constant(name.getName())
                            : read(part, scope));
        }
        return constants.folded(node, Known.of(Map.class, origin(parts)), null, parts);
    }

    /**
     * @param target the value before the link, such as {@code #order} before {@code .id}; {@code null} if there is none
     */
    private Known link(SpelNode node, @Nullable Known target, @Nullable Known scope) {
        if (!isLink(node)) {
            return read(node, target);
        }
        if (target == null) {
            throw sources.rootless(node);
        }
        boolean isNullSafe = ((SpelNodeImpl) node).isNullSafe();
        if (node instanceof PropertyOrFieldReference property) {
            Known read = links.property(target, property.getName(), isNullSafe);
            return constants.folded(node, read, target, List.of());
        }
        if (node instanceof MethodReference method) {
            List<Known> given = readAll(node, 0, scope);
            Known read = links.method(target, method.getName(), given, isNullSafe);
            return constants.folded(node, read, target, given);
        }
        SpelNode inner = node.getChild(0);
        if (node instanceof Indexer) {
            Known index =
                    inner instanceof PropertyOrFieldReference name ? Known.constant(name.getName()) : read(inner, null);
            Known read = links.entry(target, inner, index, isNullSafe);
            return constants.folded(node, read.from(read.origin().and(index.origin())), target, List.of(index));
        }
        Known item = links.item(target, isNullSafe);
        Known each = read(inner, item);
        Origin origin = target.origin().and(each.origin());
        if (node instanceof Projection) {
            return Known.of(ResolvableType.forClassWithGenerics(List.class, each.type()), origin);
        }
        return links.selected(target, item, node).from(origin);
    }
}
