package io.exactlyonce.audit;

import io.exactlyonce.visibility.Subscription;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What the rules say of one listener on one queue.
 *
 * @param findings worst first; empty if nothing is wrong, and nothing unknown
 */
public record AuditReport(Subscription subscription, List<Finding> findings) {

    public AuditReport {
        findings = findings.stream()
                .sorted((one, other) -> one.severity().compareTo(other.severity()))
                .toList();
    }

    List<Finding> errors() {
        return findings.stream()
                .filter(finding -> finding.severity() == Severity.ERROR)
                .toList();
    }

    /** Returns a line for each finding, in columns. */
    String table() {
        int widest = width(finding -> finding.severity().name());
        int longest = width(Finding::rule);
        return findings.stream()
                .map(finding -> "  %s  %s  %s | bound: %s | remedy: %s"
                        .formatted(
                                padded(finding.severity().name(), widest),
                                padded(finding.rule(), longest),
                                finding.found(),
                                finding.bound(),
                                finding.remedy()))
                .collect(Collectors.joining("\n"));
    }

    private int width(Function<Finding, String> column) {
        return findings.stream().map(column).mapToInt(String::length).max().orElse(0);
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(width - text.length());
    }
}
