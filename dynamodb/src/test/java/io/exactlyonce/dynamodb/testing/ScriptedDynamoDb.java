package io.exactlyonce.dynamodb.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbRequest;

/**
 * A client that can return answers of the real service that DynamoDB Local never returns. This client also counts the
 * requests.
 */
public final class ScriptedDynamoDb implements InvocationHandler {

    private final DynamoDbAsyncClient client;
    private final List<BatchStatementErrorCodeEnum> refusals = new CopyOnWriteArrayList<>();
    private @Nullable BatchStatementRequest refused;
    private final List<Fault> faults = new CopyOnWriteArrayList<>();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger statements = new AtomicInteger();

    private final List<Hook> hooks = new CopyOnWriteArrayList<>();
    private final AtomicInteger unread = new AtomicInteger();

    private record Hook(Class<? extends DynamoDbRequest> of, Runnable action) {}

    private record Fault(Class<? extends DynamoDbRequest> of, RuntimeException failure, AtomicInteger times) {}

    public ScriptedDynamoDb(DynamoDbAsyncClient client) {
        this.client = client;
    }

    /** Returns the client that follows this script. */
    public DynamoDbAsyncClient asClient() {
        return (DynamoDbAsyncClient)
                Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {DynamoDbAsyncClient.class}, this);
    }

    /**
     * Refuses the first statement of the next request without writing, once for each code. Each repetition of the
     * request gets the next code.
     */
    public void refuseStatements(BatchStatementErrorCodeEnum... codes) {
        refusals.addAll(List.of(codes));
    }

    /** Fails this number of requests of a kind, before they are sent. */
    public void fail(Class<? extends DynamoDbRequest> kind, RuntimeException failure, int times) {
        faults.add(new Fault(kind, failure, new AtomicInteger(times)));
    }

    /** Does something before the next request of a kind is sent. */
    public void before(Class<? extends DynamoDbRequest> kind, Runnable action) {
        hooks.add(new Hook(kind, action));
    }

    /** Leaves all keys unread in the next {@code times} requests that read keys. */
    public void leaveUnread(int times) {
        unread.set(times);
    }

    public int requests() {
        return requests.get();
    }

    public int statements() {
        return statements.get();
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (arguments == null) {
            return pass(method, arguments);
        }
        if (!(arguments[0] instanceof DynamoDbRequest request)) {
            // This variant of the method calls the variant that takes a request object.
            return method.isDefault()
                    ? InvocationHandler.invokeDefault(proxy, method, arguments)
                    : pass(method, arguments);
        }
        requests.incrementAndGet();
        List<Hook> due =
                hooks.stream().filter(each -> each.of().isInstance(request)).toList();
        hooks.removeAll(due);
        due.forEach(hook -> hook.action().run());
        Optional<Fault> fault = faults.stream()
                .filter(each -> each.of().isInstance(request) && each.times().getAndDecrement() > 0)
                .findFirst();
        if (fault.isPresent()) {
            return CompletableFuture.failedFuture(fault.get().failure());
        }
        if (request instanceof BatchGetItemRequest read && unread.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            return CompletableFuture.completedFuture(BatchGetItemResponse.builder()
                    .unprocessedKeys(read.requestItems())
                    .build());
        }
        if (request instanceof BatchExecuteStatementRequest batch) {
            statements.addAndGet(batch.statements().size());
            OptionalInt refusal = nextRefusal(batch);
            if (refusal.isPresent()) {
                return refuse(batch, refusal.getAsInt(), refusals.remove(0));
            }
        }
        return pass(method, arguments);
    }

    private Object pass(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(client, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    /** Returns the index of the statement to refuse. */
    private synchronized OptionalInt nextRefusal(BatchExecuteStatementRequest request) {
        if (refusals.isEmpty()) {
            return OptionalInt.empty();
        }
        if (refused == null) {
            refused = request.statements().get(0);
        }
        int place = request.statements().indexOf(refused);
        if (place >= 0 && refusals.size() == 1) {
            refused = null;
        }
        return place < 0 ? OptionalInt.empty() : OptionalInt.of(place);
    }

    private CompletableFuture<BatchExecuteStatementResponse> refuse(
            BatchExecuteStatementRequest request, int place, BatchStatementErrorCodeEnum code) {
        BatchStatementResponse refusal = BatchStatementResponse.builder()
                .error(BatchStatementError.builder()
                        .code(code)
                        .message("scripted for \"card-4711\"")
                        .build())
                .build();
        List<BatchStatementRequest> rest = new ArrayList<>(request.statements());
        rest.remove(place);
        CompletableFuture<List<BatchStatementResponse>> answered = rest.isEmpty()
                ? CompletableFuture.completedFuture(List.of())
                : client.batchExecuteStatement(
                                request.toBuilder().statements(rest).build())
                        .thenApply(BatchExecuteStatementResponse::responses);
        return answered.thenApply(responses -> {
            List<BatchStatementResponse> all = new ArrayList<>(responses);
            all.add(place, refusal);
            return BatchExecuteStatementResponse.builder().responses(all).build();
        });
    }
}
