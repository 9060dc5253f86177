package io.exactlyonce.dynamodb;

import io.exactlyonce.Claim;
import io.exactlyonce.dynamodb.item.ClaimStatements;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/**
 * Completes claims in the application's own transactions, for handlers whose effects are all in DynamoDB:
 *
 * <pre>{@code
 * dynamoDb.transactWriteItems(request -> request.transactItems(effect, completion.of(claim)));
 * }</pre>
 *
 * <p>Guaranteed: the transaction's writes and the completion are atomic, and happen once for each key. The transaction
 * of a worker that lost its claim is cancelled, even after a long pause. A worker may die at any moment. The handler's
 * return value is not stored; pass the result here instead.
 *
 * <p>Not guaranteed: anything for effects outside the transaction. The transaction must use the account and Region of
 * the claim table; DynamoDB charges each item twice.
 */
public final class DynamoDbCompletion {

    private final ClaimStatements statements;

    DynamoDbCompletion(ClaimStatements statements) {
        this.statements = statements;
    }

    /**
     * Returns the item that completes a claim, for one transaction; a retry needs a new one. If the claim no longer holds its key, the item
     * cancels the transaction. The reason at the item's place is {@code ConditionalCheckFailed}.
     */
    public TransactWriteItem of(Claim claim) {
        return statements.completion(claim, null);
    }

    /**
     * Returns the item as {@link #of(Claim)} does, with the result for later callers of the key.
     *
     * @param result as JSON, at most {@value DynamoDbClaimStore#LARGEST_RESULT} bytes of UTF-8
     * @throws IllegalArgumentException if it is too large
     */
    public TransactWriteItem of(Claim claim, String result) {
        DynamoDbClaimStore.requireStorable(result);
        return statements.completion(claim, result);
    }
}
