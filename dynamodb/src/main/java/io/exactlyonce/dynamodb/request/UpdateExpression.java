package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ItemWrite;
import io.exactlyonce.dynamodb.item.Names;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * An update as expressions with placeholders: some attributes have names that are reserved words.
 *
 * @param pk the item's partition key
 * @param update what it sets and removes
 * @param condition what it expects
 * @param names behind placeholders with {@code #}
 * @param values behind placeholders with {@code :}
 */
public record UpdateExpression(
        String pk, String update, String condition, Map<String, String> names, Map<String, AttributeValue> values) {

    /** Puts a write that is no insert into expressions. */
    public static UpdateExpression of(ItemWrite write) {
        Map<String, String> names = new HashMap<>();
        Map<String, AttributeValue> values = new HashMap<>();
        String set = write.set().keySet().stream()
                .map(name -> "#%s = :%s".formatted(name, name))
                .collect(Collectors.joining(", "));
        write.set().forEach((name, value) -> {
            names.put("#" + name, name);
            values.put(":" + name, value);
        });
        String removed = write.removed().stream()
                .peek(name -> names.put("#" + name, name))
                .map("#%s"::formatted)
                .collect(Collectors.joining(", "));
        String condition = write.expected().keySet().stream()
                .map(name -> "#%s = :seen_%s".formatted(name, name))
                .collect(Collectors.joining(" AND "));
        write.expected().forEach((name, value) -> {
            names.put("#" + name, name);
            values.put(":seen_" + name, value);
        });
        return new UpdateExpression(
                write.pk(), "SET " + set + (removed.isEmpty() ? "" : " REMOVE " + removed), condition, names, values);
    }

    UpdateItemRequest request(String table) {
        return UpdateItemRequest.builder()
                .tableName(table)
                .key(Map.of(Names.PK, AttributeValue.fromS(pk)))
                .updateExpression(update)
                .conditionExpression(condition)
                .expressionAttributeNames(names)
                .expressionAttributeValues(values)
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
                .build();
    }

    /** Returns it as a part of a transaction. */
    public TransactWriteItem inTransaction(String table) {
        return TransactWriteItem.builder()
                .update(update -> update.tableName(table)
                        .key(Map.of(Names.PK, AttributeValue.fromS(pk)))
                        .updateExpression(this.update)
                        .conditionExpression(condition)
                        .expressionAttributeNames(names)
                        .expressionAttributeValues(values))
                .build();
    }
}
