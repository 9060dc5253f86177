package io.exactlyonce.dynamodb.model;

import java.util.List;
import java.util.function.UnaryOperator;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/** Takes conditions out of single requests, and of transactions. */
final class Expressions {

    private Expressions() {}

    /** Puts items whether or not there is one. */
    static UnaryOperator<SdkRequest> put() {
        return request -> request instanceof PutItemRequest put && put.conditionExpression() != null
                ? put.toBuilder()
                        .conditionExpression(null)
                        .returnValuesOnConditionCheckFailure((ReturnValuesOnConditionCheckFailure) null)
                        .build()
                : request;
    }

    static UnaryOperator<SdkRequest> ofUpdatesWithout(String attribute) {
        return request -> request instanceof UpdateItemRequest update && has(update.conditionExpression(), attribute)
                ? update.toBuilder()
                        .conditionExpression(without(update.conditionExpression(), attribute))
                        .build()
                : request;
    }

    static UnaryOperator<SdkRequest> ofTransactionsWithout(String attribute) {
        return request -> request instanceof TransactWriteItemsRequest transaction
                ? changed(
                        transaction,
                        transaction.transactItems().stream()
                                .map(item -> isCompletion(item) ? without(item, attribute) : item)
                                .toList())
                : request;
    }

    static UnaryOperator<SdkRequest> transactionsWithoutCompletions() {
        return request -> request instanceof TransactWriteItemsRequest transaction
                ? changed(
                        transaction,
                        transaction.transactItems().stream()
                                .filter(item -> !isCompletion(item))
                                .toList())
                : request;
    }

    private static SdkRequest changed(TransactWriteItemsRequest transaction, List<TransactWriteItem> items) {
        return items.equals(transaction.transactItems())
                ? transaction
                : transaction.toBuilder().transactItems(items).build();
    }

    private static boolean isCompletion(TransactWriteItem item) {
        return item.update() != null && has(item.update().conditionExpression(), "token");
    }

    private static TransactWriteItem without(TransactWriteItem item, String attribute) {
        return item.toBuilder()
                .update(item.update().toBuilder()
                        .conditionExpression(without(item.update().conditionExpression(), attribute))
                        .build())
                .build();
    }

    private static boolean has(String condition, String attribute) {
        return condition != null && condition.contains(text(attribute));
    }

    /** Its names and values must still be used: DynamoDB refuses a request with others. */
    private static String without(String condition, String attribute) {
        return condition.replace(text(attribute), "(%s OR attribute_exists(pk))".formatted(text(attribute)));
    }

    private static String text(String attribute) {
        return "#%s = :seen_%s".formatted(attribute, attribute);
    }
}
