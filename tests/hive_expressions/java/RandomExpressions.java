import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.hive.common.type.HiveChar;
import org.apache.hadoop.hive.common.type.HiveDecimal;
import org.apache.hadoop.hive.common.type.HiveVarchar;
import org.apache.hadoop.hive.ql.exec.FunctionRegistry;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeConstantDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF;
import org.apache.hadoop.hive.ql.udf.SettableUDF;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorConverters;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.typeinfo.PrimitiveTypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils;

/**
 * Random expressions as Hive's classes write them, and what Hive's own evaluation gives for each of some partitions.
 *
 * <p>Arguments: a seed, how many, and a file. It gets a line for each column (name, type), a line for each partition (its
 * values), and one for each expression: its bytes, those after it was used, a letter for each partition (T, F, N for
 * NULL, E for an error), its text. With "named" in the place of a seed it gets one expression of each kind: its name and its bytes.
 */
public final class RandomExpressions {
  private static final String NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__";
  private static final String[][] COLUMNS = {
    {"s", "string"}, {"i", "int"}, {"l", "bigint"}, {"t", "tinyint"}, {"d", "date"}, {"m", "timestamp"},
    {"n", "decimal(10,2)"}, {"f", "float"}, {"g", "double"}, {"b", "boolean"}, {"c", "char(5)"}, {"v", "varchar(5)"},
  };
  private static final Map<String, String[]> VALUES = new HashMap<>();

  static {
    VALUES.put("string", new String[] {
      "a", "ab", "b", "abc", "a%b", "a_b", "5", "05", "5.0", "-3", "2026-01-01", "2026-01-02", "A", "\u00e9", "z.z", "a b",
      "+5", "5.", ".5", "1e1", "5d", "0x5", "NaN", "Infinity", "2026-1-2", "2026-01-02 10:00:00",
      "20260101", "9999999999", "-", "5.7", "12abc", "5.x", "99999999999999999999",
    });
    VALUES.put("int", new String[] {"0", "5", "-3", "2147483647", "-2147483648", "16777217", "12", "100"});
    VALUES.put("bigint", new String[] {"0", "5", "-3", "9223372036854775807", "9007199254740993", "16777217"});
    VALUES.put("tinyint", new String[] {"0", "5", "-3", "127", "-128"});
    VALUES.put("date", new String[] {"2026-01-01", "2026-01-02", "1999-12-31", "1970-01-01", "2025-06-30"});
    VALUES.put("timestamp", new String[] {
      "2026-01-01 00:00:00", "2026-01-01 12:30:00", "2026-01-01 12:30:00.5", "1969-12-31 23:59:59", "2026-01-02 00:00:00",
    });
    VALUES.put("decimal(10,2)", new String[] {"0", "5", "1.5", "-3.25", "5.00", "99999999.99", "12.34"});
    VALUES.put("float", new String[] {"0.0", "5.0", "1.5", "-3.25", "0.1", "1.0E10", "16777216"});
    VALUES.put("double", new String[] {"0.0", "5.0", "1.5", "-3.25", "0.1", "1.0E300", "16777217"});
    VALUES.put("boolean", new String[] {"true", "false"});
    VALUES.put("char(5)", new String[] {"a", "ab", "x", "abcde", "5"});
    VALUES.put("varchar(5)", new String[] {"a", "ab", "x", "abcde", "5"});
  }

  private final Random random;

  private RandomExpressions(Random random) {
    this.random = random;
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(new java.io.FileOutputStream(arguments[2]), false, "UTF-8");
    if (arguments[0].equals("named")) {
      for (Map.Entry<String, ExprNodeDesc> one : named().entrySet()) {
        ExprNodeDesc expression = one.getValue();
        boolean used = one.getKey().startsWith("used ");
        out.println(one.getKey() + "\t" + hex(serialized(used ? expression : expression.clone())));
      }
      out.close();
      return;
    }
    RandomExpressions made = new RandomExpressions(new Random(Long.parseLong(arguments[0])));
    for (String[] column : COLUMNS) {
      out.println("C\t" + column[0] + "\t" + column[1]);
    }
    List<String[]> partitions = made.partitions(40);
    for (String[] partition : partitions) {
      out.println("P\t" + String.join("\t", partition));
    }
    int wanted = Integer.parseInt(arguments[1]);
    int tries = 0;
    for (int number = 0; number < wanted && tries < wanted * 20; tries++) {
      ExprNodeDesc expression;
      try {
        expression = made.condition(made.random.nextInt(3));
      } catch (Exception wrong) { // types that Hive does not compare
        continue;
      }
      if (!(expression instanceof ExprNodeGenericFuncDesc)) {
        continue;
      }
      ExprNodeDesc copy = expression.clone();
      byte[] bytes = serialized(copy);
      byte[] used = serialized(expression);
      String results;
      try {
        results = evaluated(expression, partitions);
      } catch (java.lang.reflect.InvocationTargetException wrong) { // what it is called with is of another type, after all
        continue;
      }
      out.println("E\t" + hex(bytes) + "\t" + hex(used) + "\t" + results + "\t" + printed(copy));
      number++;
    }
    out.close();
  }

  private static Map<String, ExprNodeDesc> named() throws Exception {
    Map<String, ExprNodeDesc> made = new java.util.LinkedHashMap<>();
    ExprNodeDesc s = column("s", "string");
    ExprNodeDesc i = column("i", "int");
    for (String operator : new String[] {"=", "<>", "<", "<=", ">", ">=", "<=>"}) {
      made.put("s " + operator + " 'ab'", call(operator, s, text("ab")));
    }
    made.put("'ab' < s", call("<", text("ab"), s));
    made.put("one character", call("=", s, text("x")));
    made.put("no characters", call("=", s, text("")));
    made.put("other characters", call("=", s, text("\u00e9\u4e2d\ud83d\ude00")));
    made.put("a long text", call("=", s, text(new String(new char[300]).replace('\0', 'y'))));
    Object[][] values = {
      {"tinyint", "-3"}, {"smallint", "300"}, {"int", "70000"}, {"bigint", "-5000000000"}, {"float", "1.5"},
      {"double", "-0.25"}, {"decimal(10,2)", "-12.34"}, {"boolean", "true"}, {"date", "2026-01-02"},
      {"timestamp", "2026-01-02 03:04:05.678"}, {"timestamp", "2026-01-02 00:00:00"}, {"char(5)", "ab"}, {"varchar(5)", "ab"},
    };
    for (Object[] one : values) {
      PrimitiveTypeInfo type = type((String) one[0]);
      Object value = one[0].equals("boolean") ? Boolean.TRUE : converted((String) one[1], type);
      made.put(one[0] + " " + one[1], call("=", column("x", (String) one[0]), new ExprNodeConstantDesc(type, value)));
    }
    made.put("null", call("=", i, nothing("int")));
    made.put("and", call("and", call("=", s, text("a")), call(">", i, number(5))));
    made.put("or of three", call("or", call("=", s, text("a")), call("=", s, text("b")), call("=", i, number(5))));
    made.put("not", call("not", call("=", s, text("a"))));
    made.put("is null", call("isnull", s));
    made.put("is not null", call("isnotnull", s));
    made.put("in", call("in", i, number(1), number(2), number(300)));
    ExprNodeDesc no = new ExprNodeConstantDesc(TypeInfoFactory.booleanTypeInfo, false);
    ExprNodeDesc yes = new ExprNodeConstantDesc(TypeInfoFactory.booleanTypeInfo, true);
    made.put("between", call("between", no, i, number(1), number(9)));
    made.put("not between", call("between", yes, i, number(1), number(9)));
    made.put("like", call("like", s, text("a_b%")));
    made.put("rlike", call("rlike", s, text("^a.b")));
    made.put("struct in", call("in", call("struct", s, i), call("struct", text("a"), number(1)), call("struct", text("b"), number(2))));
    for (String target : new String[] {"int", "double", "string", "date", "decimal(12,1)", "varchar(3)", "timestamp"}) {
      made.put("cast as " + target, call("isnotnull", call(cast(target), s)));
    }
    made.put("column = column", call("=", s, column("v", "string")));
    made.put("a function", call("=", call("upper", s), text("A")));
    ExprNodeDesc shared = call("=", s, text("a"));
    made.put("shared", call("and", shared, shared));
    if (sendsUsed()) {
      made.put("used =", call("=", i, number(5)));
      made.put("used is true", call("istrue", column("x", "boolean")));
      for (String[] one : new String[][] {
        {"string", "ab", "b"}, {"char(5)", "ab", "b"}, {"decimal(10,2)", "1.5", "2"}, {"date", "2026-01-01", "2026-01-02"},
        {"timestamp", "2026-01-02 03:04:05.678", "2026-01-02 03:04:06"}, {"smallint", "1", "300"},
      }) {
        made.put("used " + one[0] + " between", call("between", no, column("x", one[0]), constant(one[0], one[1]), constant(one[0], one[2])));
      }
    }
    return made;
  }

  private static ExprNodeDesc constant(String type, String value) {
    return new ExprNodeConstantDesc(type(type), converted(value, type(type)));
  }

  /** Whether this Hive sends expressions that it has used, with what their functions then hold. */
  private static boolean sendsUsed() throws Exception {
    Class<?> owner = Class.forName("org.apache.hadoop.hive.ql.exec.SerializationUtilities");
    return Arrays.stream(owner.getDeclaredMethods()).anyMatch(one -> one.getName().equals("serializeObjectWithTypeInformation"));
  }

  private static ExprNodeDesc column(String name, String type) {
    return new ExprNodeColumnDesc(type(type), name, "t", true);
  }

  private static ExprNodeDesc number(int value) {
    return new ExprNodeConstantDesc(TypeInfoFactory.intTypeInfo, value);
  }

  private static String printed(ExprNodeDesc expression) {
    try {
      return expression.getExprString().replace('\n', ' ').replace('\t', ' ');
    } catch (RuntimeException unprintable) {
      return "?";
    }
  }

  private List<String[]> partitions(int number) {
    List<String[]> made = new ArrayList<>();
    for (int at = 0; at < number; at++) {
      String[] values = new String[COLUMNS.length];
      for (int column = 0; column < COLUMNS.length; column++) {
        String type = COLUMNS[column][1];
        do {
          values[column] = random.nextInt(10) == 0 ? NULL_PARTITION : pick(VALUES.get(type));
        } while (type.equals("boolean") && values[column].equals("false") && falseIsTrue());
      }
      made.add(values);
    }
    return made;
  }

  /** Whether this Hive takes the text "false" for true, as a partition's value. */
  private static boolean falseIsTrue() {
    return Boolean.TRUE.equals(converted("false", TypeInfoFactory.booleanTypeInfo));
  }

  private <T> T pick(T[] all) {
    return all[random.nextInt(all.length)];
  }

  private static PrimitiveTypeInfo type(String name) {
    return (PrimitiveTypeInfo) TypeInfoUtils.getTypeInfoFromTypeString(name);
  }

  private static Object converted(String text, PrimitiveTypeInfo type) {
    return ObjectInspectorConverters.getConverter(
            PrimitiveObjectInspectorFactory.javaStringObjectInspector,
            PrimitiveObjectInspectorFactory.getPrimitiveJavaObjectInspector(type))
        .convert(text);
  }

  private ExprNodeDesc condition(int depth) throws Exception {
    if (depth > 0) {
      int kind = random.nextInt(5);
      if (kind == 4) {
        return call("not", condition(depth - 1));
      }
      List<ExprNodeDesc> children = new ArrayList<>();
      int size = 2 + random.nextInt(2);
      for (int at = 0; at < size; at++) {
        children.add(condition(depth - 1));
      }
      return call(kind < 2 ? "and" : "or", children.toArray(new ExprNodeDesc[0]));
    }
    return leaf();
  }

  private ExprNodeDesc leaf() throws Exception {
    String[] named = pick(COLUMNS);
    String written = random.nextInt(5) == 0 ? "string" : named[1]; // as SHOW PARTITIONS writes all columns
    ExprNodeDesc column = new ExprNodeColumnDesc(type(written), named[0], "t", true);
    String type = named[1];
    switch (random.nextInt(12)) {
      case 0:
        return call(random.nextBoolean() ? "isnull" : "isnotnull", tested(column));
      case 1:
      case 2: {
        List<ExprNodeDesc> children = new ArrayList<>(Arrays.asList(column));
        int size = 1 + random.nextInt(4);
        for (int at = 0; at < size; at++) {
          children.add(random.nextInt(15) == 0 ? nothing(type) : constant(type));
        }
        return call("in", children.toArray(new ExprNodeDesc[0]));
      }
      case 3: {
        ExprNodeDesc inverted = new ExprNodeConstantDesc(TypeInfoFactory.booleanTypeInfo, random.nextBoolean());
        return call("between", inverted, tested(column), constant(type), constant(type));
      }
      case 4:
        return call("like", text(column, type), text(pick(new String[] {"a%", "%b", "%b%", "a_", "a\\_b", "a\\%b", "_", "%", "a", "5%", "a%c", "20__-01%"})));
      case 5:
        return call("rlike", text(column, type), text(pick(new String[] {"a", "^a", "b$", "^a.b$", "[a-c]+", "\\d", "^\\d+$", "a|5", "(ab)+c?", "^2026-0[1-9]", "", "\\s", "\\.", "^.{2}$", "[^a-z]"})));
      case 6:
        return structIn();
      case 7:
        return call(comparison(), cast(column), constant(pick(new String[] {"string", "int", "bigint", "double", "date", "decimal(10,2)"})));
      case 8:
        return call(comparison(), column, random.nextInt(4) == 0 ? nothing(type) : constant(pick(COLUMNS)[1]));
      default: {
        ExprNodeDesc other = constant(random.nextInt(4) == 0 ? relative(type) : type);
        return random.nextInt(4) == 0 ? call(comparison(), other, column) : call(comparison(), column, other);
      }
    }
  }

  private String comparison() {
    return pick(new String[] {"=", "<>", "<", "<=", ">", ">=", "<=>"});
  }

  private ExprNodeDesc tested(ExprNodeDesc column) throws Exception {
    return random.nextInt(5) == 0 ? cast(column) : column;
  }

  private ExprNodeDesc text(ExprNodeDesc column, String type) throws Exception {
    return type.equals("string") || type.startsWith("varchar") ? column : call(cast("string"), column);
  }

  private static ExprNodeDesc text(String value) {
    return new ExprNodeConstantDesc(TypeInfoFactory.stringTypeInfo, value);
  }

  private String relative(String type) {
    if (type.equals("string") || type.startsWith("varchar")) {
      return pick(new String[] {"int", "string", "varchar(5)", "double", "date"});
    }
    if (type.equals("date") || type.equals("timestamp")) {
      return "string";
    }
    return pick(new String[] {"tinyint", "int", "bigint", "float", "double", "decimal(10,2)", "string"});
  }

  private ExprNodeDesc cast(ExprNodeDesc column) throws Exception {
    String name = pick(new String[] {"int", "bigint", "double", "string", "date", "decimal(12,1)", "varchar(3)", "char(3)", "timestamp"});
    return call(cast(name), column);
  }

  private static GenericUDF cast(String name) throws Exception {
    Map<String, String> functions = new HashMap<>();
    functions.put("int", "UDFToInteger");
    functions.put("bigint", "UDFToLong");
    functions.put("double", "UDFToDouble");
    functions.put("string", "UDFToString");
    String base = name.replaceAll("\\(.*", "");
    String function = functions.getOrDefault(name, base);
    GenericUDF made;
    try {
      made = function(function);
    } catch (Exception renamed) {
      made = function(base);
    }
    if (made instanceof SettableUDF && name.contains("(")) {
      ((SettableUDF) made).setTypeInfo(type(name));
    }
    return made;
  }

  private static GenericUDF function(String name) throws Exception {
    return FunctionRegistry.getFunctionInfo(name.toLowerCase()).getGenericUDF();
  }

  private ExprNodeDesc structIn() throws Exception {
    String[][] named = {COLUMNS[0], COLUMNS[1 + random.nextInt(4)]};
    ExprNodeDesc[] columns = new ExprNodeDesc[2];
    for (int at = 0; at < 2; at++) {
      String written = random.nextInt(5) == 0 ? "string" : named[at][1];
      columns[at] = new ExprNodeColumnDesc(type(written), named[at][0], "t", true);
    }
    List<ExprNodeDesc> children = new ArrayList<>();
    children.add(call("struct", columns));
    int size = 1 + random.nextInt(4);
    for (int at = 0; at < size; at++) {
      children.add(call("struct", constant(named[0][1]), constant(named[1][1])));
    }
    return call("in", children.toArray(new ExprNodeDesc[0]));
  }

  private static ExprNodeDesc nothing(String type) {
    return new ExprNodeConstantDesc(type(type), null);
  }

  private ExprNodeDesc constant(String type) {
    String text = pick(VALUES.get(type));
    if (type.equals("boolean")) {
      return new ExprNodeConstantDesc(type(type), text.equals("true"));
    }
    return new ExprNodeConstantDesc(type(type), converted(text, type(type)));
  }

  private static ExprNodeDesc call(String name, ExprNodeDesc... children) throws Exception {
    return call(function(name), children);
  }

  private static ExprNodeDesc call(GenericUDF function, ExprNodeDesc... children) throws Exception {
    return ExprNodeGenericFuncDesc.newInstance(function, new ArrayList<>(Arrays.asList(children)));
  }

  private static Method method(Class<?> owner, int parameters, String... names) throws Exception {
    for (String name : names) {
      for (Method method : owner.getDeclaredMethods()) {
        if (method.getName().equals(name) && method.getParameterCount() == parameters) {
          method.setAccessible(true);
          return method;
        }
      }
    }
    throw new NoSuchMethodException(names[0]);
  }

  private static byte[] serialized(ExprNodeDesc expression) throws Exception {
    Class<?> owner = Class.forName("org.apache.hadoop.hive.ql.exec.SerializationUtilities");
    return (byte[]) method(owner, 1, "serializeObjectWithTypeInformation", "serializeExpressionToKryo").invoke(null, expression);
  }

  private static String evaluated(ExprNodeDesc expression, List<String[]> partitions) throws Exception {
    List<String> names = new ArrayList<>();
    List<PrimitiveTypeInfo> types = new ArrayList<>();
    for (String[] column : COLUMNS) {
      names.add(column[0]);
      types.add(type(column[1]));
    }
    Class<?> owner = Class.forName("org.apache.hadoop.hive.ql.optimizer.ppr.PartExprEvalUtils");
    Object prepared = method(owner, 3, "prepareExpr").invoke(null, expression, names, types);
    Method evaluate = method(owner, 2, "evaluateExprOnPart");
    StringBuilder results = new StringBuilder();
    for (String[] partition : partitions) {
      List<Object> values = new ArrayList<>();
      for (int at = 0; at < COLUMNS.length; at++) {
        values.add(partition[at].equals(NULL_PARTITION) ? null : converted(partition[at], types.get(at)));
      }
      Object found;
      try {
        found = evaluate.invoke(null, prepared, values);
      } catch (java.lang.reflect.InvocationTargetException wrong) {
        results.append('E');
        continue;
      }
      results.append(found == null ? 'N' : (Boolean) found ? 'T' : 'F');
    }
    return results.toString();
  }

  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte one : bytes) {
      text.append(String.format("%02x", one));
    }
    return text.toString();
  }
}
