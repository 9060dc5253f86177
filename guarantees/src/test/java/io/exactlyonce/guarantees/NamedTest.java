package io.exactlyonce.guarantees;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A test as a document names it: {@code `FooTests#method`}.
 *
 * @param type the simple name of its class, which may be an abstract contract
 * @param method the name of its method
 */
record NamedTest(String type, String method) {

    private static final Pattern NAME = Pattern.compile("`(\\w+(?:Tests|IT|Contract))#(\\w+)`");

    static List<NamedTest> in(String text) {
        return NAME.matcher(text)
                .results()
                .map(found -> new NamedTest(found.group(1), found.group(2)))
                .distinct()
                .toList();
    }

    @Override
    public String toString() {
        return type + "#" + method;
    }
}
