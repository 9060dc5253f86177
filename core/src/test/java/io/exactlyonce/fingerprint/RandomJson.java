package io.exactlyonce.fingerprint;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Random documents, and several texts of each document. The same seed creates the same documents. Numbers and null are
 * {@link Number}s.
 */
final class RandomJson {

    record Number(String text) {}

    private static final Number NULL = new Number("null");

    private static final List<String> CHARACTERS = List.of(
            "a",
            "B",
            "z",
            " ",
            "\"",
            "\\",
            "/",
            "\b",
            "\f",
            "\n",
            "\r",
            "\t",
            "\u0001",
            "\u001f",
            "\u007f",
            "\u0080",
            "\u00e9",
            "e\u0301",
            "\u07ff",
            "\u0800",
            "\u2028",
            "\uffff",
            "\ud83d\udce6",
            "\ud83d",
            "\udce6",
            ":",
            ",",
            "{",
            "}");

    private static final List<String> NUMBERS =
            List.of("0", "-0", "1", "1.0", "1.00", "10", "1e1", "1E1", "0.1e-7", "9".repeat(1_200), "1e400");

    private static final List<String> DAMAGE = List.of(
            "\"", "\\", ",", ":", "{", "}", "[", "]", " ", "0", "1", "-", "+", ".", "e", "u", "t", "null", "\u0001",
            "\0");

    private final Random random;

    RandomJson(long seed) {
        random = new Random(seed);
    }

    /** Returns a random object, array or string. */
    Object document() {
        return switch (random.nextInt(8)) {
            case 0 -> string();
            case 1 -> array(4);
            default -> object(4);
        };
    }

    private Object value(int depth) {
        return switch (random.nextInt(depth > 0 ? 7 : 5)) {
            case 0 -> new Number(pick(NUMBERS));
            case 1 -> random.nextBoolean();
            case 2 -> NULL;
            case 3, 4 -> string();
            case 5 -> array(depth - 1);
            default -> object(depth - 1);
        };
    }

    private List<Object> array(int depth) {
        List<Object> array = new ArrayList<>();
        for (int size = random.nextInt(5); size > 0; size--) {
            array.add(value(depth));
        }
        return array;
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int size = random.nextInt(7); size > 0; size--) {
            object.put(string(), value(depth));
        }
        return object;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        for (int size = random.nextInt(6); size > 0; size--) {
            string.append(pick(CHARACTERS));
        }
        return string.toString();
    }

    /** Returns a copy of the document with one random difference. */
    Object changed(Object value) {
        if (value instanceof Map<?, ?> map && !map.isEmpty()) {
            return changedObject(map);
        }
        if (value instanceof List<?> list && !list.isEmpty()) {
            List<Object> changed = new ArrayList<>(list);
            int place = random.nextInt(changed.size());
            if (random.nextInt(4) == 0) {
                changed.remove(place);
            } else {
                changed.set(place, changed(changed.get(place)));
            }
            return changed;
        }
        if (value == NULL) {
            return true;
        }
        if (value instanceof Number number) {
            return new Number(number.text()
                    + (number.text().contains("e") || number.text().contains("E") ? "1" : "e1"));
        }
        if (value instanceof Boolean truth) {
            return !truth;
        }
        return value instanceof String text ? text + pick(CHARACTERS) : List.of(value);
    }

    private Object changedObject(Map<?, ?> map) {
        Map<Object, Object> changed = new LinkedHashMap<>(map);
        Object name = pick(List.copyOf(map.keySet()));
        Object value = changed.remove(name);
        switch (random.nextInt(4)) {
            case 0 -> {}
            case 1 -> {
                String other = name + "x";
                if (changed.put(other, value) != null) {
                    changed.remove(other);
                }
            }
            default -> changed.put(name, changed(value));
        }
        return changed;
    }

    /** Returns the document's text in one of several valid forms. */
    String write(Object document) {
        StringBuilder written = new StringBuilder();
        write(document, written);
        blank(written);
        return written.toString();
    }

    private void write(Object value, StringBuilder written) {
        blank(written);
        if (value instanceof Map<?, ?> map) {
            List<Object> names = new ArrayList<>(map.keySet());
            Collections.shuffle(names, random);
            written.append('{');
            for (Object name : names) {
                written.append(written.charAt(written.length() - 1) == '{' && name == names.get(0) ? "" : ",");
                blank(written);
                quote((String) name, written);
                blank(written);
                written.append(':');
                write(map.get(name), written);
            }
            blank(written);
            written.append('}');
        } else if (value instanceof List<?> list) {
            written.append('[');
            for (int i = 0; i < list.size(); i++) {
                written.append(i == 0 ? "" : ",");
                write(list.get(i), written);
            }
            blank(written);
            written.append(']');
        } else if (value instanceof String text) {
            quote(text, written);
        } else {
            written.append(value instanceof Number number ? number.text() : value);
        }
    }

    private void blank(StringBuilder written) {
        if (random.nextInt(4) == 0) {
            written.append(pick(List.of(" ", "\n", "\r\n", "\t", "    ")));
        }
    }

    private void quote(String text, StringBuilder written) {
        written.append('"');
        for (char character : text.toCharArray()) {
            boolean mustEscape = character < ' ' || character == '"' || character == '\\';
            if (character == '/' && random.nextBoolean()) {
                written.append("\\/");
            } else if (mustEscape && "\"\\\b\f\n\r\t".indexOf(character) >= 0 && random.nextBoolean()) {
                written.append('\\').append("\"\\bfnrt".charAt("\"\\\b\f\n\r\t".indexOf(character)));
            } else if (mustEscape || random.nextInt(4) == 0) {
                written.append((random.nextBoolean() ? "\\u%04x" : "\\u%04X").formatted((int) character));
            } else {
                written.append(character);
            }
        }
        written.append('"');
    }

    /** Returns the text with up to two characters added, removed or replaced. */
    String damaged(String text) {
        StringBuilder damaged = new StringBuilder(text);
        for (int times = random.nextInt(3); times > 0 && damaged.length() > 0; times--) {
            int place = random.nextInt(damaged.length());
            switch (random.nextInt(3)) {
                case 0 -> damaged.deleteCharAt(place);
                case 1 -> damaged.insert(place, pick(DAMAGE));
                default -> damaged.replace(place, place + 1, pick(DAMAGE));
            }
        }
        return damaged.toString();
    }

    private <T> T pick(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }
}
