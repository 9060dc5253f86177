package io.exactlyonce.audit;

import io.exactlyonce.audit.Finding.Severity;
import io.exactlyonce.queue.Subscription;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The findings about one listener on one queue.
 *
 * @param findings the worst finding first; empty if all attributes could be read and there is no problem
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

    /**
     * Returns the rules that found a problem, with the severities. A report is logged only if this list has changed
     * since the last report. Texts of findings are left out, because their numbers differ in each audit.
     */
    List<String> outline() {
        return findings.stream()
                .map(finding -> finding.rule() + finding.severity())
                .toList();
    }

    /** Returns one line per finding, in columns. */
    String table() {
        int severity = findings.stream()
                .mapToInt(each -> each.severity().name().length())
                .max()
                .orElse(1);
        int rule =
                findings.stream().mapToInt(each -> each.rule().length()).max().orElse(1);
        String line = "  %-" + severity + "s  %-" + rule + "s  %s | bound: %s | remedy: %s";
        return findings.stream()
                .map(each -> line.formatted(each.severity(), each.rule(), each.found(), each.bound(), each.remedy()))
                .collect(Collectors.joining("\n"));
    }
}
