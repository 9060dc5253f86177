package io.exactlyonce.model;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The evidence of a promise, a non-promise, a failure or a statement on security: a line of {@code evidence.txt}.
 *
 * @param id the id of its row in the documentation
 * @param shown a test as {@code FooTests#method}, a stage of continuous integration as {@code .ci/site}, or one of the
 *     two constants
 * @param remark in brackets, or empty
 */
record Evidence(String id, String shown, String remark) {

    static final String CHAOS_HARNESS = "chaos-harness";
    static final String NOT_SHOWN = "not-shown";

    private static final Pattern LINE = Pattern.compile(
            "([PNDFS]\\d+) (\\w+(?:Tests|IT|Contract)#\\w+|\\.ci/\\w+(?:\\.java)?|%s|%s)((?: \\(.+\\))?)"
                    .formatted(CHAOS_HARNESS, NOT_SHOWN));

    static Evidence parse(String line) {
        Matcher parts = LINE.matcher(line);
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "'%s' is not: id, then a test, a stage of .ci/run, %s or %s, then a remark in brackets"
                            .formatted(line, CHAOS_HARNESS, NOT_SHOWN));
        }
        return new Evidence(parts.group(1), parts.group(2), parts.group(3));
    }

    boolean isTest() {
        return shown.contains("#");
    }

    /** Returns whether a script or a program in {@code .ci} shows the promise in each run of continuous integration. */
    boolean isStage() {
        return shown.startsWith(".ci/");
    }

    /** Returns this evidence as a line of the page. */
    String markdown() {
        String what = switch (shown) {
            case CHAOS_HARNESS -> "[chaos harness](chaos.md)";
            case NOT_SHOWN -> "not shown";
            default -> "`" + shown + "`";
        };
        return "- %s%s\n".formatted(what, remark);
    }
}
