package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.test.InMemoryClaimStore;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** Stores with one defect each: the behaviour of a store without one of its guards. */
enum MissingGuard {
    COMPLETION_ASKS_FOR_THE_CLAIM {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new HolderWatch(intact) {
                @Override
                public Set<ClaimId> complete(List<ClaimResolution.Completed> completions) {
                    return write(
                            completions,
                            ClaimResolution.Completed::claim,
                            (each, holder) ->
                                    super.complete(List.of(new ClaimResolution.Completed(holder, each.result()))));
                }
            };
        }
    },
    STALE_COMPLETION_CHANGES_NOTHING_IN_SECRET {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new HolderWatch(intact) {
                @Override
                public Set<ClaimId> complete(List<ClaimResolution.Completed> completions) {
                    Set<ClaimId> told = super.complete(completions);
                    write(
                            completions,
                            ClaimResolution.Completed::claim,
                            (each, holder) ->
                                    super.complete(List.of(new ClaimResolution.Completed(holder, each.result()))));
                    return told;
                }
            };
        }
    },
    RENEWAL_ASKS_FOR_THE_CLAIM {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new HolderWatch(intact) {
                @Override
                public ClaimAnswers renew(List<LeaseRenewal> renewals) {
                    return new ClaimAnswers(write(
                            renewals,
                            LeaseRenewal::claim,
                            (each, holder) -> super.renew(List.of(new LeaseRenewal(holder, each.lease())))
                                    .granted()));
                }
            };
        }
    },
    RELEASE_ASKS_FOR_THE_CLAIM {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new HolderWatch(intact) {
                @Override
                public Set<ClaimId> release(List<ClaimResolution.Released> releases) {
                    return write(
                            releases,
                            ClaimResolution.Released::claim,
                            (each, holder) -> super.release(
                                    List.of(new ClaimResolution.Released(holder, each.error(), each.inDoubt()))));
                }
            };
        }
    },
    PARKING_ASKS_FOR_THE_CLAIM {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new HolderWatch(intact) {
                @Override
                public Set<ClaimId> park(List<ClaimResolution.Parked> parkings) {
                    return write(
                            parkings,
                            ClaimResolution.Parked::claim,
                            (each, holder) -> super.park(
                                    List.of(new ClaimResolution.Parked(holder, each.reason(), each.inDoubt()))));
                }
            };
        }
    },
    TAKEOVER_WAITS_FOR_THE_END_OF_THE_LEASE {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return asking(
                    intact,
                    request -> new ClaimRequest(
                            new ClaimId(request.key(), request.claimId()),
                            request.owner(),
                            request.lease().dividedBy(2),
                            request.inDoubt(),
                            request.fingerprint()));
        }
    },
    RETRY_FINDS_ITS_OWN_CLAIM {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return asking(intact, MissingGuard::withAnotherId);
        }
    },
    LATE_REQUEST_GETS_NOTHING {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
                    List<ClaimOutcome> outcomes = super.claim(requests);
                    return IntStream.range(0, requests.size())
                            .mapToObj(i -> outcomes.get(i) instanceof HeldElsewhere held
                                            && held.leaseRemaining().isZero()
                                    ? super.claim(List.of(withAnotherId(requests.get(i))))
                                            .get(0)
                                    : outcomes.get(i))
                            .toList();
                }
            };
        }
    },
    CAUTION_IS_HEEDED {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return asking(
                    intact,
                    request -> new ClaimRequest(
                            new ClaimId(request.key(), request.claimId()),
                            request.owner(),
                            request.lease(),
                            ClaimRequest.InDoubt.TAKE_OVER,
                            request.fingerprint()));
        }
    },
    PAYLOADS_ARE_COMPARED {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return asking(
                    intact,
                    request -> new ClaimRequest(request.key(), request.claimId(), request.owner(), request.lease()));
        }
    },
    TOKENS_GROW {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return answering(
                    intact,
                    outcome -> outcome instanceof Acquired acquired
                            ? new Acquired(acquired.attempt(), 1, acquired.inDoubt(), acquired.failures())
                            : outcome);
        }
    },
    DOUBT_IS_TOLD {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return answering(
                    intact,
                    outcome -> outcome instanceof Acquired acquired
                            ? new Acquired(acquired.attempt(), acquired.fencingToken(), false, acquired.failures())
                            : outcome);
        }
    },
    FAILURES_ARE_TOLD {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return answering(
                    intact,
                    outcome -> outcome instanceof Acquired acquired
                            ? new Acquired(acquired.attempt(), acquired.fencingToken(), acquired.inDoubt())
                            : outcome);
        }
    },
    FAILURES_ARE_OF_ATTEMPTS_THAT_THREW {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public Set<ClaimId> release(List<ClaimResolution.Released> releases) {
                    return super.release(releases.stream()
                            .map(each -> new ClaimResolution.Released(each.claim(), each.error(), each.inDoubt(), true))
                            .toList());
                }
            };
        }
    },
    COMPLETED_KEY_STAYS_COMPLETED {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return answering(
                    intact,
                    outcome ->
                            outcome instanceof AlreadyCompleted ? new Acquired(2, System.nanoTime(), false) : outcome);
        }
    },
    COMPLETION_IS_RECORDED {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public Set<ClaimId> complete(List<ClaimResolution.Completed> completions) {
                    return super.release(completions.stream()
                            .map(each -> new ClaimResolution.Released(each.claim(), "", false))
                            .toList());
                }
            };
        }
    },
    PARKING_IS_RECORDED {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public Set<ClaimId> park(List<ClaimResolution.Parked> parkings) {
                    return super.release(parkings.stream()
                            .map(each -> new ClaimResolution.Released(each.claim(), each.reason(), false, each.threw()))
                            .toList());
                }
            };
        }
    };

    /** Returns a store that lacks this guard. */
    abstract WrappedStore remove(InMemoryClaimStore intact);

    private static ClaimRequest withAnotherId(ClaimRequest request) {
        return new ClaimRequest(
                new ClaimId(request.key(), UUID.randomUUID()),
                request.owner(),
                request.lease(),
                request.inDoubt(),
                request.fingerprint());
    }

    private static WrappedStore asking(InMemoryClaimStore intact, UnaryOperator<ClaimRequest> change) {
        return new WrappedStore(intact) {
            @Override
            public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
                return super.claim(requests.stream().map(change).toList());
            }
        };
    }

    private static WrappedStore answering(InMemoryClaimStore intact, UnaryOperator<ClaimOutcome> change) {
        return new WrappedStore(intact) {
            @Override
            public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
                return super.claim(requests).stream().map(change).toList();
            }
        };
    }
}
