/// Cases as a suite would write them.
enum AttributeCases {
    /// A battery service with a gap before its characteristic value.
    static let battery = """
        {"mtu": 64, "context": "server", "operation": {"op": "serve"}, "database": {"services": [
            {"type": "primary", "uuid": "180f", "start": 16, "end": 31, "items": [
                {"kind": "characteristic", "handle": 17, "uuid": "2a19", "properties": 18, "value_handle": 20,
                 "permissions": 1, "value": "5a"},
                {"kind": "descriptor", "handle": 21, "uuid": "2902", "permissions": 3, "value": "0000"}]}]}}
        """

    /// Services out of order, with includes, long types, and every kind of permission.
    static let permissions = """
        {"mtu": 64, "context": "server", "ignored": true, "database": {"services": [
            {"type": "primary", "uuid": "12345678-1234-5678-1234-56789abcdef0", "start": 256, "end": 511, "items": [
                {"kind": "include", "handle": 257, "uuid": "180a", "start": 1, "end": 15},
                {"kind": "characteristic", "handle": 300, "uuid": "b001", "properties": 10, "value_handle": 301,
                 "permissions": 4, "value": "01"},
                {"kind": "characteristic", "handle": 302, "uuid": "b002", "properties": 10, "value_handle": 303,
                 "permissions": 48, "value": "02"},
                {"kind": "characteristic", "handle": 304, "uuid": "b003", "properties": 10, "value_handle": 305,
                 "permissions": 65, "value": "03"},
                {"kind": "characteristic", "handle": 306, "uuid": "b004", "properties": 10, "value_handle": 307,
                 "permissions": 3, "value": "0405"},
                {"kind": "characteristic", "handle": 308, "uuid": "b005", "properties": 10, "value_handle": 309,
                 "permissions": 2, "value": "06"}]},
            {"type": "secondary", "uuid": "180a", "start": 1, "end": 15, "items": [
                {"kind": "characteristic", "handle": 2, "uuid": "2a29", "properties": 50, "value_handle": 3,
                 "permissions": 3, "value": "4142"},
                {"kind": "descriptor", "handle": 4, "uuid": "2902", "permissions": 3, "value": "0000"}]}]}}
        """
}
