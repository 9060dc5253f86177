package io.exactlyonce.dynamodb.model;

import io.exactlyonce.dynamodb.testing.LocalDynamoDb;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;

/** Removes conditions from PartiQL statements. */
final class Statements {

    private static final Pattern INSERT = Pattern.compile("INSERT INTO \"([^\"]+)\" VALUE \\{(.*)}");
    private static final Pattern INSERTED = Pattern.compile("'([^']+)':(\\?|'[^']*'|[^,]+)");

    private Statements() {}

    /**
     * Removes a part of some statements.
     *
     * @param part the text of the part
     * @param others other texts that a statement must also contain
     */
    static UnaryOperator<SdkRequest> without(String part, String... others) {
        return each(statement ->
                statement.statement().contains(part) && Stream.of(others).allMatch(statement.statement()::contains)
                        ? without(statement, part)
                        : statement);
    }

    /**
     * Writes an item whether or not it exists. PartiQL has no statement for that, so the test puts the item, and then
     * updates it to get an answer.
     */
    static UnaryOperator<SdkRequest> upsert() {
        DynamoDbAsyncClient[] client = new DynamoDbAsyncClient[1];
        return each(statement -> {
            Matcher insert = INSERT.matcher(statement.statement());
            if (!insert.matches()) {
                return statement;
            }
            Map<String, AttributeValue> item = new HashMap<>();
            List<AttributeValue> values = new ArrayList<>(statement.parameters());
            for (Matcher name = INSERTED.matcher(insert.group(2)); name.find(); ) {
                item.put(name.group(1), name.group(2).equals("?") ? values.remove(0) : literal(name.group(2)));
            }
            client[0] = client[0] == null ? LocalDynamoDb.shared().client() : client[0];
            client[0].putItem(put -> put.tableName(insert.group(1)).item(item)).join();
            return statement.toBuilder()
                    .statement("UPDATE \"%s\" SET \"w\"=? WHERE \"pk\"=?".formatted(insert.group(1)))
                    .parameters(item.get("w"), item.get("pk"))
                    .build();
        });
    }

    private static AttributeValue literal(String text) {
        if (text.startsWith("'")) {
            return AttributeValue.fromS(text.substring(1, text.length() - 1));
        }
        return Character.isDigit(text.charAt(0))
                ? AttributeValue.fromN(text)
                : AttributeValue.fromBool(Boolean.valueOf(text));
    }

    private static UnaryOperator<SdkRequest> each(UnaryOperator<BatchStatementRequest> change) {
        return request -> {
            if (!(request instanceof BatchExecuteStatementRequest batch)) {
                return request;
            }
            List<BatchStatementRequest> changed =
                    batch.statements().stream().map(change).toList();
            return changed.equals(batch.statements())
                    ? batch
                    : batch.toBuilder().statements(changed).build();
        };
    }

    private static BatchStatementRequest without(BatchStatementRequest statement, String part) {
        String text = statement.statement();
        int at = text.indexOf(part);
        List<AttributeValue> parameters = new ArrayList<>(statement.parameters());
        if (part.contains("?")) {
            parameters.remove((int)
                    text.substring(0, at).chars().filter(each -> each == '?').count());
        }
        return statement.toBuilder()
                .statement(text.substring(0, at) + text.substring(at + part.length()))
                .parameters(parameters)
                .build();
    }
}
