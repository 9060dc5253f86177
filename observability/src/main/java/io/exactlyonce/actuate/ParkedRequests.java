package io.exactlyonce.actuate;

import static io.exactlyonce.actuate.KeyDecisions.NOT_IMPLEMENTED;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.ParkedClaims.Filter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/** Lists the parked keys of all instances, and releases or completes many of them in one request. */
final class ParkedRequests {

    private static final Logger log = LoggerFactory.getLogger(ParkedRequests.class);

    private static final int USUAL_PAGE = 100;

    private static final int LONGEST_FILTER = 600;

    /**
     * About this many claims, at most, are read to find the first claim of a page. So many are read only if very many
     * claims were parked in the same microsecond.
     */
    private static final int MOST_READ = ParkedClaims.PAGE * ParkedClaims.PAGES;

    private static final Pattern CURSOR = Pattern.compile("(\\d{1,18})_([0-9a-f-]{36})");

    private final @Nullable ParkedClaims claims;
    private final OneAtATime lookUps;
    private final OneAtATime decisions;
    private final ParkedMessages messages;
    private final ListenerStates listeners;

    /**
     * @param claims the parked claims; {@code null} if the store cannot list them
     * @param lookUps runs one lookup at a time
     * @param decisions runs one decision at a time
     * @param messages remembers the queues of parked keys' messages
     * @param listeners knows the maximum number of attempts in each scope
     */
    ParkedRequests(
            @Nullable ParkedClaims claims,
            OneAtATime lookUps,
            OneAtATime decisions,
            ParkedMessages messages,
            ListenerStates listeners) {
        this.claims = claims;
        this.lookUps = lookUps;
        this.decisions = decisions;
        this.messages = messages;
        this.listeners = listeners;
    }

    /**
     * Parked keys, the oldest first.
     *
     * @param next to get the next page, the caller sends this value as {@code after}; {@code null} on the last page
     */
    record Page(List<ShownParked> parked, @Nullable String next) implements OperationResponseBody {}

    /**
     * The parked claims that would be released or completed.
     *
     * @param count the number of claims in {@code claims}
     * @param isMore whether the filter matches more claims than {@code limit}
     * @param parkedUntil the time at which the newest of these claims was parked; {@code null} if there are no claims
     * @param notDecided requested claims that are not parked; {@code null} if there are none
     */
    record DryRun(
            boolean dryRun,
            int count,
            boolean isMore,
            @Nullable Instant parkedUntil,
            List<ShownParked> claims,
            @Nullable List<NotDecided> notDecided)
            implements OperationResponseBody {}

    /**
     * The response to a request that releases or completes many keys.
     *
     * @param isMore whether the filter matches more claims than {@code limit}
     */
    record Decisions(String decision, List<Decided> decided, List<NotDecided> notDecided, boolean isMore)
            implements OperationResponseBody {}

    /** @param message if the key was released, where its message is; {@code null} if unknown */
    record Decided(String scope, String keyHash, UUID claimId, ParkedMessages.@Nullable Seen message) {}

    /**
     * A requested claim that was neither released nor completed.
     *
     * @param scope {@code null} if no parked claim has the requested id
     * @param keyHash {@code null} if no parked claim has the requested id
     */
    record NotDecided(
            UUID claimId, @Nullable String scope, @Nullable String keyHash, String reason) {

        private static NotDecided unknown(UUID claimId) {
            return new NotDecided(
                    claimId, null, null, "no such claim is parked; another operator may have decided first");
        }

        private static NotDecided lost(ParkedClaim claim) {
            return new NotDecided(claim.claimId(), claim.scope(), hash(claim), "another operator decided first");
        }
    }

    /**
     * The parameters of a request that releases or completes many keys.
     *
     * @param decision {@code release} or {@code complete}
     * @param reason the caller's reason for the log; may be {@code null} in a dry run
     * @param named ids of the claims; {@code null} if the filter chooses the claims
     * @param limit how many claims the filter may choose
     */
    record Request(
            String decision,
            @Nullable String reason,
            @Nullable Set<UUID> named,
            Filter filter,
            int limit,
            boolean isDryRun) {

        static Request of(
                @Nullable Object decision,
                @Nullable Object reason,
                @Nullable Object claims,
                @Nullable Object scope,
                @Nullable Object error,
                @Nullable Object parkedUntil,
                @Nullable Object limit,
                @Nullable Object dryRun) {
            String asked = KeyDecisions.decision(Parameters.text("decision", decision));
            boolean isDryRun = Parameters.flag("dryRun", dryRun);
            Filter filter = new Filter(
                    Parameters.optionalText("scope", scope),
                    Parameters.optionalText("error", error),
                    null,
                    Parameters.time("parkedUntil", parkedUntil));
            boolean hasFilter = filter.scope() != null || filter.errorClass() != null;
            if ((claims == null) != hasFilter || (claims != null && parkedUntil != null)) {
                throw new IllegalArgumentException(
                        "a request needs either claims, or scope or error, with the parkedUntil of its dry run");
            }
            if (hasFilter && !isDryRun && filter.until() == null) {
                throw new IllegalArgumentException(
                        "parkedUntil must be the one of a dry run, so that nothing is decided that was parked later");
            }
            return new Request(
                    asked,
                    isDryRun && reason == null ? null : Parameters.reason(reason),
                    claims == null
                            ? null
                            : Parameters.texts("claims", claims, ParkedKeys.MOST).stream()
                                    .map(id -> Parameters.claimId("each of claims", id))
                                    .collect(Collectors.toSet()),
                    filter,
                    Parameters.number("limit", limit, ParkedKeys.MOST, ParkedKeys.MOST),
                    isDryRun);
        }

        @Override
        public String toString() {
            return named != null
                    ? "%d named claims".formatted(named.size())
                    : OneLine.of(
                            "at most %d claims, scope %s, error %s, parked until %s"
                                    .formatted(limit, filter.scope(), filter.errorClass(), filter.until()),
                            LONGEST_FILTER);
        }
    }

    /**
     * The parked claims that a request has chosen by ids or by a filter.
     *
     * @param isMore whether the filter matches more claims than the request's limit
     * @param missing requested ids of claims that are not parked
     */
    private record Selection(List<ParkedClaim> claims, boolean isMore, List<UUID> missing) {

        static Selection of(ParkedClaims store, Request request) {
            Set<UUID> named = request.named();
            if (named != null) {
                List<ParkedClaim> found = store.findAll(named);
                Set<UUID> ids = found.stream().map(ParkedClaim::claimId).collect(Collectors.toSet());
                return new Selection(
                        found,
                        false,
                        named.stream().filter(id -> !ids.contains(id)).toList());
            }
            List<ParkedClaim> found = store.listMatching(request.filter(), request.limit() + 1);
            boolean isMore = found.size() > request.limit();
            return new Selection(isMore ? found.subList(0, request.limit()) : found, isMore, List.of());
        }
    }

    /**
     * Returns a page of parked keys.
     *
     * @param shown masks keys that the caller may not see
     */
    WebEndpointResponse<OperationResponseBody> list(
            UnaryOperator<String> shown,
            @Nullable Object scope,
            @Nullable Object error,
            @Nullable Object limit,
            @Nullable Object after) {
        int most = Parameters.number("limit", limit, USUAL_PAGE, ParkedKeys.MOST);
        Matcher cursor = CURSOR.matcher(after == null ? "0_" + new UUID(0, 0) : Parameters.text("after", after));
        if (!cursor.matches()) {
            throw new IllegalArgumentException("after must be the 'next' of another page");
        }
        Filter filter = new Filter(
                Parameters.optionalText("scope", scope),
                Parameters.optionalText("error", error),
                after == null ? null : Instant.EPOCH.plus(Long.parseLong(cursor.group(1)), ChronoUnit.MICROS),
                null);
        UUID last = Parameters.claimId("after", cursor.group(2));
        ParkedClaims store = claims;
        return store == null
                ? Refused.of(NOT_IMPLEMENTED, KeyDecisions.SHOWS_NONE)
                : lookUps.answer(() -> {
                    try {
                        return new WebEndpointResponse<>(page(store, filter, last, most, shown));
                    } catch (RuntimeException failure) {
                        return noAnswer(failure, "");
                    }
                });
    }

    /**
     * Returns one page of parked keys. The caller's cursor names the last claim of the previous page, by its id and the
     * time at which it was parked.
     *
     * <p>Other claims may have been parked at the same time. So the store lists all claims from that time on, and this
     * method leaves out the claims up to the last one of the previous page. If that last claim is not parked any more,
     * this method leaves out no claims. Then some claims may appear on both pages.
     */
    private Page page(ParkedClaims store, Filter filter, UUID last, int most, UnaryOperator<String> shown) {
        List<ParkedClaim> found = afterLast(store, filter, last, most + 1);
        boolean isMore = found.size() > most;
        List<ParkedClaim> page = isMore ? found.subList(0, most) : found;
        return new Page(shown(page, shown), isMore ? cursor(page.get(page.size() - 1)) : null);
    }

    /**
     * Returns the claims that follow the previous page's last claim. If the store's list contains fewer of them than
     * wanted, this method asks the store for a longer list.
     */
    private static List<ParkedClaim> afterLast(ParkedClaims store, Filter filter, UUID last, int wanted) {
        for (int size = wanted; ; ) {
            List<ParkedClaim> found = store.listMatching(filter, size);
            boolean isWhole = found.size() < size || size >= MOST_READ;
            int after = indexOf(found, last) + 1;
            if (isWhole || (after > 0 && found.size() - after >= wanted)) {
                return found.subList(after, found.size());
            }
            if (after > 0) {
                size = after + wanted;
            } else if (found.get(size - 1).parkedAt().equals(filter.from())) {
                size *= 2;
            } else {
                return found;
            }
        }
    }

    private static int indexOf(List<ParkedClaim> found, UUID claim) {
        for (int at = 0; at < found.size(); at++) {
            if (found.get(at).claimId().equals(claim)) {
                return at;
            }
        }
        return -1;
    }

    private static String cursor(ParkedClaim last) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, last.parkedAt()) + "_" + last.claimId();
    }

    private List<ShownParked> shown(List<ParkedClaim> claims, UnaryOperator<String> shown) {
        return claims.stream()
                .map(claim -> ShownParked.of(claim, shown.apply(claim.key()), listeners))
                .toList();
    }

    /**
     * Releases or completes many parked keys. A dry run only returns the claims that would change.
     *
     * @param shown masks keys that the caller may not see
     * @param asking the caller's name for the log
     */
    WebEndpointResponse<OperationResponseBody> decide(UnaryOperator<String> shown, String asking, Request request) {
        ParkedClaims store = claims;
        if (store == null) {
            return Refused.of(NOT_IMPLEMENTED, KeyDecisions.SHOWS_NONE);
        }
        return request.isDryRun()
                ? lookUps.answer(() -> dryRun(store, shown, request))
                : decisions.answer(() -> decide(store, asking, request));
    }

    private WebEndpointResponse<OperationResponseBody> dryRun(
            ParkedClaims store, UnaryOperator<String> shown, Request request) {
        try {
            Selection selection = Selection.of(store, request);
            List<NotDecided> missing =
                    selection.missing().stream().map(NotDecided::unknown).toList();
            return new WebEndpointResponse<>(new DryRun(
                    true,
                    selection.claims().size(),
                    selection.isMore(),
                    selection.claims().stream()
                            .map(ParkedClaim::parkedAt)
                            .max(Instant::compareTo)
                            .orElse(null),
                    shown(selection.claims(), shown),
                    missing.isEmpty() ? null : missing));
        } catch (RuntimeException failure) {
            return noAnswer(failure, "");
        }
    }

    private WebEndpointResponse<OperationResponseBody> decide(ParkedClaims store, String asking, Request request) {
        Selection selection;
        try {
            selection = Selection.of(store, request);
        } catch (RuntimeException failure) {
            return noAnswer(failure, "");
        }
        String outcome = "done";
        try {
            Set<ClaimId> decided = KeyDecisions.decide(
                    store,
                    request.decision(),
                    selection.claims().stream().map(ParkedRequests::idOf).toList());
            Decisions answer = answer(request.decision(), selection, decided);
            outcome = "%d decided, %d not parked any more"
                    .formatted(answer.decided().size(), answer.notDecided().size());
            answer.decided()
                    .forEach(each -> log.info(
                            "{} decided to {} the parked claim {} of {}/{}",
                            asking,
                            request.decision(),
                            each.claimId(),
                            OneLine.of(each.scope(), LONGEST_FILTER),
                            each.keyHash()));
            return new WebEndpointResponse<>(answer);
        } catch (ClaimStoreBusyException busy) {
            outcome = "not done, because the store was busy";
            return noAnswer(busy, "");
        } catch (RuntimeException failure) {
            outcome =
                    "it failed, but decisions may have been stored (%s)".formatted(PrintableException.reason(failure));
            return noAnswer(failure, "; repeat the request, because only the first decision on a claim counts");
        } finally {
            log.warn(
                    "{} asked to {} {}, because \"{}\": {}",
                    asking,
                    request.decision(),
                    request,
                    OneLine.of(String.valueOf(request.reason()), LONGEST_FILTER),
                    outcome);
        }
    }

    private Decisions answer(String decision, Selection selection, Set<ClaimId> decided) {
        List<Decided> done = new ArrayList<>();
        List<NotDecided> lost = new ArrayList<>();
        for (ParkedClaim claim : selection.claims()) {
            ClaimId id = idOf(claim);
            if (decided.contains(id)) {
                done.add(new Decided(
                        claim.scope(),
                        hash(claim),
                        claim.claimId(),
                        KeyDecisions.RELEASE.equals(decision) ? messages.of(id.key()) : null));
            } else {
                lost.add(NotDecided.lost(claim));
            }
        }
        selection.missing().forEach(missing -> lost.add(NotDecided.unknown(missing)));
        return new Decisions(decision, done, lost, selection.isMore());
    }

    private static ClaimId idOf(ParkedClaim claim) {
        return new ClaimId(new ClaimKey(claim.scope(), claim.key()), claim.claimId());
    }

    private static String hash(ParkedClaim claim) {
        return claim.keyHash();
    }

    private static WebEndpointResponse<OperationResponseBody> noAnswer(RuntimeException failure, String remedy) {
        log.debug("Parked claims could not be listed or decided for an operator", PrintableException.of(failure));
        return Refused.forNow("the claim store did not answer (%s)%s"
                .formatted(failure.getClass().getSimpleName(), remedy));
    }
}
