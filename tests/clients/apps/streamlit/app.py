# Users are sent to sign in, and then the page shows their claims. With ?leave in the URL it logs out.
import json

import streamlit as st

if not st.user.is_logged_in:
    st.login()
    st.stop()
if "leave" in st.query_params:
    st.logout()
    st.stop()
st.text(json.dumps(st.user.to_dict()))
