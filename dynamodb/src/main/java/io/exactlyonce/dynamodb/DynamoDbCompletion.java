package io.exactlyonce.dynamodb;

import io.exactlyonce.Claim;
import io.exactlyonce.dynamodb.item.ClaimStatements;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/**
 * Completes claims within an application's own transactions, for handlers whose effects are all in DynamoDB:
 *
 * <pre>{@code
 * dynamoDb.transactWriteItems(request -> request.transactItems(effect, completion.of(claim)));
 * }</pre>
 *
 * <p>Guaranteed: the transaction's writes and the completion happen together, or neither does, and they happen once for each key:
 * a worker that lost its claim, however long it was paused, has its transaction cancelled. A worker may die at any moment. What
 * the handler's return value would add is not stored; hand it over here instead.
 *
 * <p>Not guaranteed: anything for effects outside the transaction. The transaction must go to the account and Region of the table
 * of claims; all its items are charged twice.
 */
public final class DynamoDbCompletion {

    private final ClaimStatements statements;

    /** @param statements what a completion writes */
    DynamoDbCompletion(ClaimStatements statements) {
        this.statements = statements;
    }

    /**
     * Returns the item that completes a claim, for one transaction: make another one for another try. If the claim does not hold
     * its key any more, it cancels the transaction, with the reason {@code ConditionalCheckFailed} at its place.
     */
    public TransactWriteItem of(Claim claim) {
        return statements.completion(claim, null);
    }

    /**
     * As {@link #of(Claim)}, with the result that later callers of the key are given.
     *
     * @param result as JSON, at most {@value DynamoDbClaimStore#LARGEST_RESULT} bytes of UTF-8
     * @throws IllegalArgumentException if it is too large
     */
    public TransactWriteItem of(Claim claim, String result) {
        DynamoDbClaimStore.requireStorable(result);
        return statements.completion(claim, result);
    }
}
