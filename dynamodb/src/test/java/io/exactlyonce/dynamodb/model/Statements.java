package io.exactlyonce.dynamodb.model;

import io.exactlyonce.dynamodb.testing.LocalDynamoDb;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;

/** Takes conditions out of PartiQL statements. */
final class Statements {

    private static final Pattern INSERT = Pattern.compile("INSERT INTO \"([^\"]+)\" VALUE \\{(.*)}");
    private static final Pattern INSERTED = Pattern.compile("'([^']+)':\\?");

    private Statements() {}

    /**
     * Takes an attribute out of the conditions of some updates.
     *
     * @param before the status that the updates ask for, or {@code seen} if they ask for the version that was seen
     * @param after the status that they write, or nothing
     */
    static UnaryOperator<SdkRequest> without(String attribute, String before, String after) {
        return each(statement ->
                is(statement, before, after) ? without(statement, " AND \"%s\"=?".formatted(attribute)) : statement);
    }

    /** Leaves items the mark that they have. */
    static UnaryOperator<SdkRequest> withoutMark(String before, String after) {
        return each(statement -> is(statement, before, after) ? without(statement, " SET \"w\"=?") : statement);
    }

    /** Writes an item whether or not there is one: PartiQL has no word for that, so it is put, and updated to be answered. */
    static UnaryOperator<SdkRequest> upsert() {
        DynamoDbAsyncClient[] client = new DynamoDbAsyncClient[1];
        return each(statement -> {
            Matcher insert = INSERT.matcher(statement.statement());
            if (!insert.matches()) {
                return statement;
            }
            Map<String, AttributeValue> item = new HashMap<>();
            List<AttributeValue> values = statement.parameters();
            for (Matcher name = INSERTED.matcher(insert.group(2)); name.find(); ) {
                item.put(name.group(1), values.get(item.size()));
            }
            client[0] = client[0] == null ? LocalDynamoDb.shared().client() : client[0];
            client[0].putItem(put -> put.tableName(insert.group(1)).item(item)).join();
            return statement.toBuilder()
                    .statement("UPDATE \"%s\" SET \"w\"=? WHERE \"pk\"=?".formatted(insert.group(1)))
                    .parameters(item.get("w"), item.get("pk"))
                    .build();
        });
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

    private static boolean is(BatchStatementRequest statement, String before, String after) {
        boolean isUpdate = statement.statement().startsWith("UPDATE ");
        String expected =
                statement.statement().contains(" AND \"w\"=?") ? "seen" : text(statement, " AND \"status\"=?");
        return isUpdate && before.equals(expected) && after.equals(text(statement, " SET \"status\"=?"));
    }

    private static String text(BatchStatementRequest statement, String of) {
        int at = statement.statement().indexOf(of);
        return at < 0
                ? ""
                : statement.parameters().get(parametersBefore(statement, at)).s();
    }

    private static BatchStatementRequest without(BatchStatementRequest statement, String part) {
        String text = statement.statement();
        int at = text.indexOf(part);
        List<AttributeValue> parameters = new ArrayList<>(statement.parameters());
        parameters.remove(parametersBefore(statement, at));
        return statement.toBuilder()
                .statement(text.substring(0, at) + text.substring(at + part.length()))
                .parameters(parameters)
                .build();
    }

    private static int parametersBefore(BatchStatementRequest statement, int end) {
        return (int) statement
                .statement()
                .substring(0, end)
                .chars()
                .filter(each -> each == '?')
                .count();
    }
}
