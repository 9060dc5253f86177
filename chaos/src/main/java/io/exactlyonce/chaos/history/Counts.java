package io.exactlyonce.chaos.history;

/**
 * The amounts of a run.
 *
 * @param messages messages that SQS accepted
 * @param deliveries messages that workers received
 * @param restarts restarts of the database or of the SQS server
 * @param partitions partitions between workers and the database, or workers and SQS
 * @param troubles faults of DynamoDB: throttling, lost answers, dates
 */
public record Counts(
        long messages,
        long deliveries,
        long kills,
        long pauses,
        long restarts,
        long failovers,
        long partitions,
        long troubles) {

    static Counts of(History history) {
        Faults faults = history.faults();
        return new Counts(
                history.count(Kind.SENT),
                history.count(Kind.RECEIVED),
                faults.count(Fault.KILL),
                faults.count(Fault.PAUSE),
                faults.count(Fault.DATABASE_RESTART) + faults.count(Fault.SQS_RESTART),
                faults.count(Fault.FAILOVER),
                faults.count(Fault.DATABASE_PARTITION) + faults.count(Fault.SQS_PARTITION),
                faults.count(Fault.THROTTLING) + faults.count(Fault.ANSWERS_LOST) + faults.count(Fault.DATE_FAULT));
    }

    @Override
    public String toString() {
        return "messages=%d deliveries=%d kills=%d pauses=%d restarts=%d failovers=%d partitions=%d"
                        .formatted(messages, deliveries, kills, pauses, restarts, failovers, partitions)
                + (troubles == 0 ? "" : " troubles=" + troubles);
    }
}
