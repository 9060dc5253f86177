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
 * <p>Guaranteed: the transaction writes its items and completes the claim, or does neither. For each key, only one such
 * transaction succeeds, even if workers die or pause. DynamoDB cancels the transaction of a worker that has lost its
 * claim.
 *
 * <p>Not guaranteed: anything for effects outside the transaction.
 *
 * <p>The handler's return value is not stored, so pass the result to {@link #of(Claim, String)}. The transaction must
 * use the account and Region of the claim table. DynamoDB charges twice for each item of a transaction.
 */
public final class DynamoDbCompletion {

    private final ClaimStatements statements;

    DynamoDbCompletion(ClaimStatements statements) {
        this.statements = statements;
    }

    /**
     * Returns an item that completes a claim, to be added to one transaction. If the transaction is repeated, it needs
     * a new item.
     *
     * <p>If the claim no longer holds its key, DynamoDB cancels the transaction. The cancellation reason of this item
     * is then {@code ConditionalCheckFailed}.
     */
    public TransactWriteItem of(Claim claim) {
        return statements.completion(claim, null);
    }

    /**
     * Returns an item that completes a claim like {@link #of(Claim)}, and also stores a result for later callers of the
     * key.
     *
     * @param result the result as JSON, at most {@value DynamoDbClaimStore#LARGEST_RESULT} bytes of UTF-8
     * @throws IllegalArgumentException if the result is too large
     */
    public TransactWriteItem of(Claim claim, String result) {
        DynamoDbClaimStore.requireStorable(result);
        return statements.completion(claim, result);
    }
}
