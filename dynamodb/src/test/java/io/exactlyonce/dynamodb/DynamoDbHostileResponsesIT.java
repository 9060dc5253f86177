package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.Requests.acquire;
import static io.exactlyonce.dynamodb.Requests.claim;
import static io.exactlyonce.dynamodb.Requests.request;
import static io.exactlyonce.dynamodb.Requests.requests;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;

/**
 * Tests answers that DynamoDB never gives, and items that no claim store wrote. No such answer grants a key twice, and
 * a bad answer for one key affects no other key of the request.
 */
class DynamoDbHostileResponsesIT {

    /** Changes responses before the client receives them. */
    private static final class Changing implements ExecutionInterceptor {

        private volatile UnaryOperator<SdkResponse> change = UnaryOperator.identity();

        @Override
        public SdkResponse modifyResponse(Context.ModifyResponse context, ExecutionAttributes attributes) {
            return change.apply(context.response());
        }

        void writes(UnaryOperator<List<BatchStatementResponse>> of) {
            change = response -> response instanceof BatchExecuteStatementResponse answer
                    ? answer.toBuilder()
                            .responses(of.apply(new ArrayList<>(answer.responses())))
                            .build()
                    : response;
        }
    }

    private final Changing answers = new Changing();
    private final StoreOnTable table = StoreOnTable.create(answers);
    private final DynamoDbClaimStore store = table.store();

    record Damage(String name, UnaryOperator<Map<String, AttributeValue>> item) {

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Damage> damages() {
        AttributeValue text = AttributeValue.fromS("told\nFORGED");
        Stream<Damage> missing = Stream.of("status", "claim_id", "attempt", "token", "w", "lease_micros")
                .map(name -> new Damage("no " + name, item -> {
                    item.remove(name);
                    return item;
                }));
        Stream<Damage> wrong = Stream.of("status", "claim_id", "attempt", "token", "lease_until", "lease_micros")
                .map(name -> new Damage("text as " + name, item -> {
                    item.put(name, text);
                    return item;
                }));
        Stream<Damage> huge = Stream.of("attempt", "token", "lease_until", "lease_micros")
                .flatMap(name -> Stream.of("1E30", "1.5", "-9223372036854775808")
                        .map(number -> new Damage(number + " as " + name, item -> {
                            item.put(name, AttributeValue.fromN(number));
                            return item;
                        })));
        return Stream.of(missing, wrong, huge).flatMap(each -> each);
    }

    private void damage(ClaimRequest claim, Damage damage) {
        Map<String, AttributeValue> item =
                damage.item().apply(new HashMap<>(table.item(claim.key().downstreamKey())));
        table.client().putItem(put -> put.tableName(table.table()).item(item)).join();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("damages")
    void itemThatCannotBeReadGrantsNothingAndCostsNoOtherKey(Damage damage) {
        ClaimRequest damaged = request();
        acquire(store, damaged);
        ClaimRequest held = request();
        acquire(store, held);
        damage(damaged, damage);

        ClaimRequest again = request(damaged.key());
        Object outcome;
        try {
            outcome = claim(store, again);
        } catch (IllegalArgumentException told) {
            assertThat(told.getMessage())
                    .startsWith("An item of the claim table cannot be read")
                    .doesNotContain("\n");
            outcome = told;
        }
        if (!damage.name().contains("lease")) {
            assertThat(outcome).isNotInstanceOf(Acquired.class);
        }
        assertThat(claim(store, request())).isInstanceOf(Acquired.class);
        assertThat(store.peek(Set.of(damaged.key(), held.key()))).containsEntry(held.key(), KeyState.HELD);
        assertThat(store.renew(List.of(
                                new LeaseRenewal(damaged.id(), Requests.LEASE),
                                new LeaseRenewal(held.id(), Requests.LEASE)))
                        .granted())
                .contains(held.id());
    }

    @Test
    void answerWithFewerStatementsThanWereSentLeavesTheRestUnanswered() {
        List<ClaimRequest> batch = requests(3);
        store.claim(batch);
        answers.writes(all -> all.subList(0, 2));

        ClaimAnswers partly = store.renew(batch.stream()
                .map(each -> new LeaseRenewal(each.id(), Requests.LEASE))
                .toList());

        assertThat(partly.granted())
                .containsExactlyInAnyOrder(batch.get(0).id(), batch.get(1).id());
        assertThat(partly.unanswered()).containsExactly(batch.get(2).id());
    }

    @Test
    void answerWithMoreStatementsThanWereSentIsThatOfThoseThatWere() {
        answers.writes(all -> {
            all.add(BatchStatementResponse.builder().build());
            return all;
        });

        assertThat(store.claim(requests(2)))
                .hasOnlyElementsOfType(Acquired.class)
                .hasSize(2);
    }

    @Test
    void errorWithoutACodeIsAnOutageOfItsOwnKey() {
        ClaimRequest held = request();
        acquire(store, held);
        answers.writes(all -> List.of(BatchStatementResponse.builder()
                .error(BatchStatementError.builder().message("told\nFORGED").build())
                .build()));

        assertThatThrownBy(() -> store.resolve(List.of(new ClaimResolution.Completed(held.id(), null))))
                .isInstanceOf(ClaimStoreUnavailableException.class);
    }

    @Test
    void failedConditionWithoutItsItemGrantsNothing() {
        ClaimRequest held = request();
        acquire(store, held);
        store.resolve(List.of(new ClaimResolution.Completed(held.id(), "1")));
        answers.writes(all -> all.stream()
                .map(each -> each.error() == null
                        ? each
                        : each.toBuilder()
                                .error(each.error().toBuilder().item(null).build())
                                .build())
                .toList());

        assertThat(claim(store, request(held.key()))).isEqualTo(new AlreadyCompleted("1"));
        assertThat(store.resolve(List.of(new ClaimResolution.Released(held.id(), "late", false)))
                        .granted())
                .isEmpty();
    }

    @Test
    void itemThatIsReturnedTwiceIsOne() {
        ClaimRequest held = request();
        acquire(store, held);
        answers.change = response -> response instanceof BatchGetItemResponse read
                ? read.toBuilder()
                        .responses(Map.of(
                                table.table(),
                                read.responses().get(table.table()).stream()
                                        .flatMap(item -> Stream.of(item, item))
                                        .toList()))
                        .build()
                : response;

        assertThat(store.peek(Set.of(held.key()))).containsEntry(held.key(), KeyState.HELD);
    }

    private List<ClaimRequest> parked(int count) {
        List<ClaimRequest> batch = requests(count);
        store.claim(batch);
        batch.forEach(each -> store.resolve(List.of(new ClaimResolution.Parked(each.id(), "who knows", false))));
        return batch;
    }

    @Test
    @Timeout(60)
    void pageThatRepeatsEndsTheList() {
        List<ClaimRequest> batch = parked(3);
        table.parked().list(null, 3);
        QueryResponse[] first = new QueryResponse[1];
        answers.change = response -> {
            if (response instanceof QueryResponse page) {
                first[0] = first[0] == null ? page : first[0];
                return first[0];
            }
            return response;
        };
        table.parked().release(batch.get(0).id());

        assertThatThrownBy(() -> table.parked().list(null, 100))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessageContaining("twice");
    }

    @Test
    @Timeout(60)
    void tokenThatRepeatsEndsALookup() {
        ClaimRequest parked = parked(1).get(0);
        AtomicInteger pages = new AtomicInteger();
        answers.change = response -> {
            if (response instanceof QueryResponse page) {
                pages.incrementAndGet();
                return page.toBuilder()
                        .items(List.of())
                        .lastEvaluatedKey(Map.of(
                                "pk", AttributeValue.fromS(parked.key().downstreamKey()),
                                "parked", AttributeValue.fromS("P"),
                                "parked_at", AttributeValue.fromS("9")))
                        .build();
            }
            return response;
        };

        assertThat(table.parked().findByKeyHash("orders", parked.key().downstreamKey()))
                .isEmpty();
        assertThat(pages).hasValue(20);
    }
}
