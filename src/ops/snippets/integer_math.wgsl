// What expressions call where V is i32. Everything wraps around, as torch's integers do.
fn minimum(a: i32, b: i32) -> i32 { return min(a, b); }
fn maximum(a: i32, b: i32) -> i32 { return max(a, b); }
fn truth(a: i32) -> bool { return a != 0; }
fn is_nan(a: i32) -> bool { return false; }
fn is_infinite(a: i32) -> bool { return false; }
fn whole_below(a: i32) -> i32 { return a; }
fn whole_above(a: i32) -> i32 { return a; }
fn whole_part(a: i32) -> i32 { return a; }
fn whole_nearest(a: i32) -> i32 { return a; }
fn direction(a: i32) -> i32 { return sign(a); }

fn div_trunc(a: i32, b: i32) -> i32 { return a / b; }
fn div_floor(a: i32, b: i32) -> i32 {
  let q = a / b;
  return q - select(0, 1, (a ^ b) < 0 && q * b != a);
}

// What div_trunc and div_floor leave.
fn remainder(a: i32, b: i32) -> i32 { return a % b; }
fn modulo(a: i32, b: i32) -> i32 {
  let rest = a % b;
  return select(rest, rest + b, rest != 0 && (rest ^ b) < 0);
}

// A shift by a negative number, or by more than there are bits, shifts everything out.
fn shift_left(a: i32, b: i32) -> i32 { return select(0, a << (u32(b) & 31u), b >= 0 && b < 32); }
fn shift_right(a: i32, b: i32) -> i32 { return a >> select(31u, u32(b) & 31u, b >= 0 && b < 32); }

// A negative power of a whole number is 0 unless the number is 1 or −1.
fn power(a: i32, b: i32) -> i32 {
  if (b < 0) {
    return select(select(0, select(1, -1, (b & 1) != 0), a == -1), 1, a == 1);
  }
  var result = 1;
  var factor = a;
  for (var rest = b; rest > 0; rest >>= 1u) {
    if ((rest & 1) != 0) {
      result *= factor;
    }
    factor *= factor;
  }
  return result;
}
