package io.exactlyonce.audit;

import io.exactlyonce.audit.Finding.Severity;
import io.exactlyonce.visibility.Subscription;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What the rules say of one listener on one queue.
 *
 * @param findings worst first; empty if nothing is wrong, and nothing unknown
 */
public record AuditReport(Subscription subscription, List<Finding> findings) {

    public AuditReport {
        findings = findings.stream()
                .sorted(Comparator.comparing(Finding::severity))
                .toList();
    }

    List<Finding> errors() {
        return findings.stream()
                .filter(finding -> finding.severity() == Severity.ERROR)
                .toList();
    }

    /** Returns a line for each finding, in columns. */
    String table() {
        int widest = 1;
        int longest = 1;
        for (Finding finding : findings) {
            widest = Math.max(widest, finding.severity().name().length());
            longest = Math.max(longest, finding.rule().length());
        }
        String line = "  %-" + widest + "s  %-" + longest + "s  %s | bound: %s | remedy: %s";
        return findings.stream()
                .map(finding -> line.formatted(
                        finding.severity(), finding.rule(), finding.found(), finding.bound(), finding.remedy()))
                .collect(Collectors.joining("\n"));
    }
}
