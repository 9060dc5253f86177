package io.exactlyonce.dynamodb.model;

import java.util.List;
import java.util.function.UnaryOperator;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;

/** Removes conditions from transactions. */
final class Expressions {

    private Expressions() {}

    static UnaryOperator<SdkRequest> ofTransactionsWithout(String condition) {
        return request -> request instanceof TransactWriteItemsRequest transaction
                ? changed(
                        transaction,
                        transaction.transactItems().stream()
                                .map(item -> isCompletion(item) ? without(item, condition) : item)
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
        return item.update() != null
                && item.update().conditionExpression() != null
                && item.update().conditionExpression().contains("#token");
    }

    /**
     * Removes a condition, and keeps the condition's names and values in use, because DynamoDB refuses a request with
     * unused names or values.
     */
    private static TransactWriteItem without(TransactWriteItem item, String condition) {
        String all = item.update().conditionExpression();
        return item.toBuilder()
                .update(item.update().toBuilder()
                        .conditionExpression(
                                all.replace(condition, "(%s OR attribute_exists(pk))".formatted(condition)))
                        .build())
                .build();
    }
}
