package io.exactlyonce.renewal;

/**
 * Keeps a claim without a message ours: its lease is renewed until {@link #letGo()}, for 12 h at most. Loss is told as by
 * {@link Renewal}.
 */
public final class HeldLease {

    private final RenewalSupervisor supervisor;
    private final RenewedLease lease;

    HeldLease(RenewalSupervisor supervisor, RenewedLease lease) {
        this.supervisor = supervisor;
        this.lease = lease;
    }

    /** Returns whether the lease that the store last granted has not run out by this JVM's monotonic clock. */
    public boolean isHeld() {
        return lease.isHeld(supervisor.now());
    }

    /** The claim's completion has begun: a renewal that finds it no longer held may just have come after. */
    public void completing() {
        lease.ending();
    }

    /** Renews the lease no more: the claim has been completed, released or lost. */
    public void letGo() {
        supervisor.forget(lease);
    }
}
